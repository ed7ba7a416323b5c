import Glibc
package import Telemetry

/// The kernel's numbers of the network interfaces, which are asked for once a second: names may be given anew.
package struct NetworkLinks {
    private(set) var numbers: [String: UInt32] = [:]
    private var asked: UInt64?

    mutating func refresh(for figures: [LinkFigures], uptime: UInt64) {
        let isKnown = figures.allSatisfy { numbers[$0.name] != nil }
        if let asked, isKnown, uptime &- asked < 1_000_000 { return }
        asked = uptime
        numbers = Dictionary(Self.all().map { ($0.name, $0.link) }) { first, _ in first }
    }

    /// Those that there are now, by rising number.
    package static func all() -> [ListNetworkInterfaces.Link] {
        guard let list = if_nameindex() else { return [] }
        defer { if_freenameindex(list) }
        var links: [ListNetworkInterfaces.Link] = []
        // The C library's array ends with an entry of zeros.
        var next = list
        while next.pointee.if_index != 0, let name = next.pointee.if_name {
            links.append(ListNetworkInterfaces.Link(link: next.pointee.if_index, name: String(cString: name)))
            next += 1
        }
        return links.sorted { $0.link < $1.link }
    }
}
