/// Finds the names that somebody probably meant.
package enum NearMiss {
    /// Names longer than this are compared by their beginning: the cost is quadratic, and names can come from anyone.
    private static let compared = 255

    /// `"; did you mean 'BoxProvisioned'?"`, or nothing when no name is close.
    package static func hint(for wanted: String, among names: some Sequence<String>) -> String {
        let close = suggestions(for: wanted, among: names).map { "'\($0)'" }
        return close.isEmpty ? "" : "; did you mean \(close.joined(separator: " or "))?"
    }

    /// At most three names, the nearest first: within a third of the length in edits and four, whatever the case, or
    /// begun.
    package static func suggestions(for wanted: String, among names: some Sequence<String>) -> [String] {
        let key = Array(wanted.lowercased().unicodeScalars.prefix(compared))
        guard !key.isEmpty else { return [] }
        var ranked: [(distance: Int, name: String)] = []
        for name in Set(names) where name != wanted {
            let other = Array(name.lowercased().unicodeScalars.prefix(compared))
            let limit = min(4, max(1, min(key.count, other.count) / 3))
            // A change of length alone costs as many edits: most names are settled without the table.
            let distance = abs(key.count - other.count) > limit ? Int.max : self.distance(key, other)
            if distance <= limit && distance < min(key.count, other.count) {
                ranked.append((distance, name))
            } else if key.count >= 3 && other.starts(with: key) {
                ranked.append((limit + 1, name))
            }
        }
        ranked.sort { ($0.distance, $0.name) < ($1.distance, $1.name) }
        let nearest = ranked.first?.distance ?? 0
        return ranked.prefix { $0.distance <= nearest + 1 }.prefix(3).map(\.name)
    }

    /// Edits from one to the other; a swap of neighbours is one edit (optimal string alignment).
    package static func distance<Symbol: Equatable>(_ first: [Symbol], _ second: [Symbol]) -> Int {
        if first.isEmpty || second.isEmpty { return max(first.count, second.count) }
        var beforeLast = [Int](repeating: 0, count: second.count + 1)
        var last = Array(0...second.count)
        var current = last
        for row in 1...first.count {
            current[0] = row
            for column in 1...second.count {
                let isSame = first[row - 1] == second[column - 1]
                current[column] = min(
                    last[column] + 1, current[column - 1] + 1, last[column - 1] + (isSame ? 0 : 1))
                if row > 1 && column > 1 && first[row - 1] == second[column - 2]
                    && first[row - 2] == second[column - 1]
                {
                    current[column] = min(current[column], beforeLast[column - 2] + 1)
                }
            }
            (beforeLast, last, current) = (last, current, beforeLast)
        }
        return last[second.count]
    }
}
