/// Foundation's types that `RelayFoundation` sends. Known by their names, since this library imports no Foundation.
enum ForeignTypes {
    /// Why a type is refused where that library is not linked, and what to do instead; nil for all others.
    static func refusal(of type: Any.Type) -> String? {
        let parts = String(reflecting: type).split(separator: ".")
        guard parts.count == 2, modules.contains(String(parts[0])), let remedy = remedies[String(parts[1])] else {
            return nil
        }
        return "a \(parts[1]) needs RelayFoundation: link and import that library, or \(remedy)"
    }
    private static let modules: Set<String> = ["Foundation", "FoundationEssentials", "FoundationInternationalization"]
    private static let remedies = [
        "Date": "use Timestamp, microseconds since 1970",
        "URL": "use a String: its absoluteString",
        "Decimal": "use a String, or an integer of the smallest unit",
    ]
}
