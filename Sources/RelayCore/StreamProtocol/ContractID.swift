package import RelayWire

/// Identifies the commands of a service as they are in one build: what a call was encoded for.
///
/// FNV-1a over all commands of all interfaces that the service exports, with their arguments, replies and progress, in
/// an order of its own: the same in each run and process, whatever the order of declaration is. The service's, not a
/// command's: of two calls that were sent one after the other, the second could otherwise run before the first one,
/// which has to be sent again.
package struct ContractID: Hashable, Sendable, CustomStringConvertible {
    /// 16 hexadecimal digits.
    package let description: String

    package init(_ contracts: [ContractText]) {
        var hash = FNV()
        // No name and no shape has a line's end, so no command's text is that of two others.
        for contract in contracts.sorted(by: { $0.name < $1.name }) {
            for command in contract.calls {
                hash.combine("\(contract.name).\(command.name)\n")
                Self.add(command.arguments, "in", &hash)
                Self.add(command.reply, "out", &hash)
                Self.add(command.progress ?? [], "progress", &hash)
            }
        }
        let digits = String(hash.value, radix: 16)
        description = String(repeating: "0", count: 16 - digits.count) + digits
    }
    private static func add(_ fields: [WireField], _ kind: String, _ hash: inout FNV) {
        for field in fields { hash.combine("\(kind) \(field.contractText)\n") }
    }
    /// As a service reports it. Nil for anything else.
    package init?(_ text: String) {
        let isOne = text.utf8.count == 16 && text.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
        if !isOne { return nil }
        description = text
    }
    /// The object that runs only calls that were encoded for this contract.
    package func path(of object: String) -> String { "\(object)/c\(description)" }
    /// Whether a path may be such an object, of whichever contract.
    package static func isChecked(_ path: String) -> Bool {
        guard let last = path.split(separator: "/").last, last.first == "c" else { return false }
        return ContractID(String(last.dropFirst())) != nil
    }
}
