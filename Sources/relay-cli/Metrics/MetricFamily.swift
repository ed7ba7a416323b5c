import RelayCore
import RelayTool

/// Samples of one name: a number of one kind, of several parts.
struct MetricFamily: Equatable {
    enum Kind: String {
        case counter, gauge, histogram, info, unknown

        /// What its samples' names end with.
        var suffix: String {
            switch self {
            case .counter: "_total"
            case .info: "_info"
            case .gauge, .histogram, .unknown: ""
            }
        }
        /// As node_exporter calls it, whose format is older.
        var older: String {
            switch self {
            case .info: "gauge"
            case .unknown: "untyped"
            case .counter, .gauge, .histogram: rawValue
            }
        }
    }
    struct Label: Equatable, Hashable {
        let name: String
        let value: String
        init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }
    }
    struct Sample: Equatable {
        /// Of a histogram: `_bucket`, `_count`, `_sum`.
        var suffix = ""
        var labels: [Label]
        /// As it is written.
        var value: String
    }
    let name: String
    let kind: Kind
    /// What its name ends with; empty for none.
    var unit = ""
    let help: String
    var samples: [Sample] = []

    /// Of samples with the same labels the first: twice the same would be no text that anybody reads.
    ///
    /// - Parameter written: a label's value in the form that is written: two values may look alike there.
    func distinctSamples(_ written: (String) -> String) -> [Sample] {
        var seen: Set<[String]> = []
        return samples.filter { sample in
            let labels = sample.labels.map { ($0.name, written($0.value)) }.sorted { $0.0 < $1.0 }
            return seen.insert([sample.suffix] + labels.flatMap { [$0.0, $0.1] }).inserted
        }
    }
}

/// Writes families as text for monitors.
enum MetricText {
    enum Form {
        /// OpenMetrics 1.0.
        case openMetrics
        /// As node_exporter's textfile collector reads it: a type is declared by its sample's name, and there are no units.
        case textfile
    }

    static func text(_ families: [MetricFamily], _ form: Form) -> String {
        var text = ""
        for family in families where !family.samples.isEmpty {
            let suffix = family.kind.suffix
            let declared = family.name + (form == .textfile ? suffix : "")
            let kind = form == .textfile ? family.kind.older : family.kind.rawValue
            text += "# TYPE \(declared) \(kind)\n"
            if form == .openMetrics && !family.unit.isEmpty { text += "# UNIT \(declared) \(family.unit)\n" }
            text += "# HELP \(declared) \(escaped(family.help, quotes: form == .openMetrics))\n"
            for sample in family.distinctSamples({ escaped($0, quotes: true) }) {
                text += family.name + (sample.suffix.isEmpty ? suffix : sample.suffix)
                if !sample.labels.isEmpty {
                    let labels = sample.labels.map { "\($0.name)=\"\(escaped($0.value, quotes: true))\"" }
                    text += "{" + labels.joined(separator: ",") + "}"
                }
                text += " \(sample.value)\n"
            }
        }
        return form == .openMetrics ? text + "# EOF\n" : text
    }
    /// For programs, an object a sample.
    static func append(json families: [MetricFamily], to output: inout ByteBuffer) {
        for family in families {
            for sample in family.distinctSamples({ $0 }) {
                output.append("{\"metric\":")
                let suffix = sample.suffix.isEmpty ? family.kind.suffix : sample.suffix
                SafeText.append(quoted: family.name + suffix, to: &output)
                output.append(",\"labels\":{")
                for (index, label) in sample.labels.enumerated() {
                    if index > 0 { output.append(",") }
                    SafeText.append(quoted: label.name, to: &output)
                    output.append(":")
                    SafeText.append(quoted: label.value, to: &output)
                }
                output.append("},\"value\":\(sample.value)}\n")
            }
        }
    }
    /// The formats have escapes for three characters only. What else is not plainly visible is shown as `\uXXXX`, its
    /// backslash escaped: a reader of the text gets what a person is shown.
    private static func escaped(_ text: String, quotes: Bool) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\"" where quotes: result += "\\\""
            case _ where scalar.isPlainlyVisible: result.unicodeScalars.append(scalar)
            default: result += String(scalar.escape).replacing("\\", with: "\\\\")
            }
        }
        return result
    }
    /// Whole microseconds as seconds.
    static func seconds(_ microseconds: UInt64) -> String {
        let fraction = String(microseconds % 1_000_000 + 1_000_000).dropFirst()
        let digits = fraction.reversed().drop { $0 == "0" }.reversed()
        return "\(microseconds / 1_000_000)" + (digits.isEmpty ? ".0" : "." + String(digits))
    }
}
