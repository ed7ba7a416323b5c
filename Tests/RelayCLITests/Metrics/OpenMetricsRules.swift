/// What is wrong with a text by the rules of OpenMetrics 1.0: its grammar, and what that does not say. Written from the
/// specification, without a look at what writes it.
struct OpenMetricsRules {
    struct Sample: Hashable {
        let name: String
        let labels: [String: String]
        let value: Double
    }
    private(set) var faults: [String] = []
    private(set) var types: [String: String] = [:]
    private(set) var samples: [Sample] = []
    private var units: [String: String] = [:]
    private var helps: Set<String> = []
    private var family: String?
    private var finished: Set<String> = []

    init(_ text: String) {
        guard text.hasSuffix("# EOF\n") else {
            faults.append("no '# EOF' at the end")
            return
        }
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        for (number, line) in lines.enumerated() {
            if line == "# EOF" {
                if number != lines.count - 1 { faults.append("'# EOF' before the end") }
            } else if line.hasPrefix("# ") {
                descriptor(line)
            } else {
                sample(line)
            }
        }
        for (name, type) in types where type == "histogram" { histogram(name) }
        if Set(samples.map { Key(name: $0.name, labels: $0.labels) }).count != samples.count {
            faults.append("a sample stands twice")
        }
    }
    private struct Key: Hashable {
        let name: String
        let labels: [String: String]
    }

    private mutating func descriptor(_ line: Substring) {
        let parts = line.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 4, Self.isMetricName(parts[2]) else { return fault("no descriptor", line) }
        let (keyword, name, rest) = (parts[1], parts[2], parts[3])
        if name != family { begin(name, line) }
        if samples.contains(where: { self.family(of: $0.name) == name }) { fault("metadata behind samples", line) }
        switch keyword {
        case "TYPE":
            let known = ["unknown", "gauge", "counter", "stateset", "info", "histogram", "gaugehistogram", "summary"]
            if !known.contains(rest) || types[name] != nil { fault("type", line) }
            types[name] = rest
        case "UNIT":
            if !name.hasSuffix("_" + rest) || units[name] != nil { fault("unit", line) }
            units[name] = rest
        case "HELP":
            if !helps.insert(name).inserted || Self.unescaped(rest) == nil { fault("help", line) }
        default: fault("keyword", line)
        }
    }
    private mutating func begin(_ name: String, _ line: Substring) {
        if let family { finished.insert(family) }
        if finished.contains(name) { fault("a family in two parts", line) }
        family = name
    }
    private func family(of sample: String) -> String? {
        for (suffix, kinds) in [
            ("_total", ["counter"]), ("_created", ["counter", "histogram"]), ("_bucket", ["histogram"]),
            ("_count", ["histogram"]), ("_sum", ["histogram"]), ("_info", ["info"]),
        ] where sample.hasSuffix(suffix) {
            let name = String(sample.dropLast(suffix.count))
            if let type = types[name], kinds.contains(type) { return name }
        }
        guard let type = types[sample], ["gauge", "unknown"].contains(type) else { return nil }
        return sample
    }

    private mutating func sample(_ line: Substring) {
        let name = String(line.prefix { $0 != "{" && $0 != " " })
        guard Self.isMetricName(name) else { return fault("name", line) }
        var rest = line.dropFirst(name.count)
        var labels: [String: String] = [:]
        if rest.first == "{" {
            rest = rest.dropFirst()
            while rest.first != "}" {
                let label = String(rest.prefix { $0 != "=" })
                rest = rest.dropFirst(label.count)
                guard Self.isLabelName(label), rest.hasPrefix("=\"") else { return fault("label", line) }
                rest = rest.dropFirst(2)
                var raw = ""
                while let character = rest.first, character != "\"" {
                    raw.append(character)
                    rest = rest.dropFirst()
                    if character == "\\", let next = rest.first {
                        raw.append(next)
                        rest = rest.dropFirst()
                    }
                }
                guard rest.first == "\"", let value = Self.unescaped(raw), labels[label] == nil else {
                    return fault("label's value", line)
                }
                labels[label] = value
                rest = rest.dropFirst()
                if rest.first == "," {
                    rest = rest.dropFirst()
                } else if rest.first != "}" {
                    return fault("comma", line)
                }
            }
            rest = rest.dropFirst()
        }
        guard rest.first == " ", let value = Double(rest.dropFirst()) else { return fault("value", line) }
        guard let own = family(of: name), own == family else { return fault("no family, or another's", line) }
        if types[own] == "info" && value != 1 { fault("info", line) }
        if types[own] == "counter" && (value < 0 || value.isNaN) { fault("counter", line) }
        samples.append(Sample(name: name, labels: labels, value: value))
    }

    private mutating func histogram(_ name: String) {
        let buckets = samples.filter { $0.name == name + "_bucket" }
        let groups = Dictionary(grouping: buckets) { $0.labels.filter { $0.key != "le" } }
        for (labels, own) in groups {
            let bounds = own.map { sample -> Double in
                let bound = sample.labels["le"] ?? ""
                return bound == "+Inf" ? .infinity : Double(bound) ?? .nan
            }
            if bounds != bounds.sorted() || Set(bounds).count != bounds.count || bounds.last != .infinity {
                faults.append("\(name): bounds \(bounds)")
            }
            if own.map(\.value) != own.map(\.value).sorted() { faults.append("\(name): not cumulative") }
            let count = samples.first { $0.name == name + "_count" && $0.labels == labels }?.value
            if count != own.last?.value { faults.append("\(name): count is not +Inf") }
            if !samples.contains(where: { $0.name == name + "_sum" && $0.labels == labels && $0.value >= 0 }) {
                faults.append("\(name): no sum")
            }
        }
    }

    private mutating func fault(_ what: String, _ line: Substring) { faults.append("\(what): \(line)") }
    private static func isMetricName(_ text: String) -> Bool {
        guard let first = text.first, first.isASCII, first.isLetter || first == "_" || first == ":" else {
            return false
        }
        return text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_" || $0 == ":") }
    }
    private static func isLabelName(_ text: String) -> Bool { isMetricName(text) && !text.contains(":") }
    /// nil: a quote or a backslash stands alone.
    private static func unescaped(_ text: String) -> String? {
        var (result, isEscaped) = ("", false)
        for character in text {
            if isEscaped {
                guard let plain = ["\\": "\\", "\"": "\"", "n": "\n"][character] else { return nil }
                result += plain
                isEscaped = false
            } else if character == "\\" {
                isEscaped = true
            } else if character == "\"" {
                return nil
            } else {
                result.append(character)
            }
        }
        return isEscaped ? nil : result
    }
}
