import RelayCore

/// Where the NATS servers are, who a bridge is to them, and how channels are made there.
package struct NatsSettings: Hashable, Sendable {
    /// What a channel that is made may hold. A limit makes the server remove the oldest messages.
    package struct Limits: Hashable, Sendable {
        /// nil: no limit.
        package var bytes: UInt64?
        /// nil: no limit.
        package var age: Duration?
        package init() {}
    }
    /// Files in PEM format.
    package struct TLS: Hashable, Sendable {
        /// Of those who sign the servers' certificates; nil: the system's.
        package var authorities: String?
        /// Who this program is: its certificate, and the key of that. nil: it does not say.
        package var certificate: String?
        package var key: String?
        package init() {}
    }
    /// `nats://host:4222` or `tls://host:4222`, of one cluster.
    package var servers: [String]
    /// A credentials file, as `nsc` writes it; nil: what the URL says.
    package var credentials: String?
    /// nil: a connection is encrypted if its URL begins with `tls:`.
    package var tls: TLS?
    /// Whether a channel that is not there is made by who appends to it.
    package var makesStreams = true
    /// Of channels that are made.
    package var replicas = 1
    package var limits = Limits()
    /// How long an answer may take.
    package var patience = Duration.seconds(10)

    package init(servers: [String]) { self.servers = servers }

    /// The servers without users and passwords: for people.
    package var shown: String {
        servers.map { server in
            guard let at = server.lastIndex(of: "@"), let scheme = server.firstRange(of: "//") else { return server }
            return String(server[..<scheme.upperBound] + server[server.index(after: at)...])
        }.joined(separator: ", ")
    }
    /// Whether a carrier's name is that of servers, and not of a folder.
    package static func isServers(_ text: String) -> Bool { text.hasPrefix("nats://") || text.hasPrefix("tls://") }
}
