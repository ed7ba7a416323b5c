public import RelayCore

/// Asks for the names of the host's network interfaces: a query, which changes nothing and cannot be refused.
public nonisolated struct ListNetworkInterfaces: Command {
    public static let about = About(
        "Returns the names of the host's network interfaces; changes nothing.",
        reply: ["links": "by rising number", "links.link": "as in NetworkSampled"])
    public typealias Interface = Telemetry1

    public init() {}

    public struct Reply: Codable, Hashable, Sendable {
        /// By rising number.
        public let links: [Link]
        public init(links: [Link]) { self.links = links }
    }

    public struct Link: Codable, Hashable, Sendable {
        /// As in `NetworkSampled`.
        public let link: UInt32
        /// `eth0`
        public let name: String
        public init(link: UInt32, name: String) { (self.link, self.name) = (link, name) }
    }
}
