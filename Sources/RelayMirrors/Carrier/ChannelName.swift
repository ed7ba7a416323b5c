package import RelayCore
import RelayWire

/// Which channel of a carrier: that of one interface of one service of one host.
package struct ChannelName: Hashable, Sendable, Comparable, CustomStringConvertible {
    package let host: String
    package let service: String
    package let interface: String

    /// Throws `.invalidArgument` for what is no host's, no service's or no interface's name, and for a mirror's.
    package init(host: String, service: String, interface: String) throws(RelayError) {
        let mirror = try MirrorName(of: service, at: host)
        try BusNames.check(interface, as: .interface)
        (self.host, self.service, self.interface) = (mirror.host, mirror.service, interface)
    }
    package var description: String { "\(interface) of \(service) at \(host)" }
    package static func < (a: Self, b: Self) -> Bool {
        (a.host, a.service, a.interface) < (b.host, b.service, b.interface)
    }
}
