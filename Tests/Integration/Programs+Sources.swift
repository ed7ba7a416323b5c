import RelayTestKit

extension Programs {
    /// The folder of this file, for what is not Swift.
    static var sources: String { String(#filePath.prefix(upTo: #filePath.lastIndex(of: "/") ?? #filePath.endIndex)) }
}
