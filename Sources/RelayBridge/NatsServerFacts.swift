import CNats
import Glibc
import RelayCore

/// What a server says of itself: what its acknowledgements are worth.
struct NatsServerFacts: Hashable {
    var version: String?
    /// Whether it syncs each message before it acknowledges it; nil: this account may not ask.
    var syncsAlways: Bool?
    /// How often it syncs otherwise; nil: this account may not ask.
    var syncInterval: Duration?

    /// Takes an answer to `$SYS.REQ.SERVER.PING.JSZ`, or a greeting (`INFO`): both are JSON.
    init(version name: String, in text: String) {
        version = Self.value(of: name, in: text)
        if let always = Self.value(of: "sync_always", in: text) { syncsAlways = always == "true" }
        if let interval = Self.value(of: "sync_interval", in: text).flatMap({ Int64($0) }) {
            syncInterval = .nanoseconds(interval)
            syncsAlways = syncsAlways ?? false
        }
    }
    /// A field's value, without quotes. The server's texts have each of those names once.
    private static func value(of name: String, in text: String) -> String? {
        guard let field = text.firstRange(of: "\"\(name)\":") else { return nil }
        let rest = text[field.upperBound...].drop { $0 == " " || $0 == "\"" }
        return String(rest.prefix { !["\"", ",", "}", " "].contains($0) })
    }

    /// From 2.10 on a server has `sync_interval`.
    private var canSync: Bool? {
        guard let version else { return nil }
        let numbers = version.split(separator: ".").prefix(2).compactMap { Int($0) }
        return numbers.count == 2 ? (numbers[0], numbers[1]) >= (2, 10) : nil
    }
    /// For people.
    var guarantee: String {
        let server = "nats-server" + (version.map { " \($0)" } ?? "")
        let loss = "a power cut may lose what it has acknowledged since"
        switch (syncsAlways, syncInterval, canSync) {
        case (true?, _, _): return "\(server) syncs each message to its disk before it acknowledges it"
        case (_, let interval?, _): return "\(server) syncs every \(interval / .seconds(1)) s: \(loss)"
        case (_, _, false?): return "\(server) cannot sync each message: it does so every two minutes, and \(loss)"
        default:
            return "\(server) does not tell this account how it syncs: without 'sync_interval: always' in its "
                + "configuration it does so every two minutes, and \(loss)"
        }
    }
}

extension NatsConnection {
    /// Asks the server of this connection.
    func serverFacts() -> NatsServerFacts {
        // For the system account, and for whom that exports it: see SCALE_OUT.md. Others hear nothing.
        if let text = answer(to: "$SYS.REQ.SERVER.PING.JSZ", within: .seconds(1)), text.contains("\"sync_interval\":") {
            return NatsServerFacts(version: "ver", in: text)
        }
        return NatsServerFacts(version: "version", in: connectedURL.flatMap(Self.greeting) ?? "")
    }
    /// The line that a server begins each connection with, in clear; nil: it does not.
    private static func greeting(_ url: String) -> String? {
        guard let scheme = url.firstRange(of: "//") else { return nil }
        // Without user and password.
        let place = url[scheme.upperBound...].split(separator: "@").last ?? ""
        guard let colon = place.lastIndex(of: ":") else { return nil }
        let host = place[..<colon].drop { $0 == "[" }.prefix { $0 != "]" }
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(String(host), String(place[place.index(after: colon)...]), &hints, &found) == 0,
            let address = found
        else { return nil }
        defer { freeaddrinfo(found) }
        let number = socket(
            address.pointee.ai_family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        if number < 0 { return nil }
        defer { close(number) }
        var patience = timeval(tv_sec: 1, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(number, SOL_SOCKET, option, &patience, socklen_t(MemoryLayout<timeval>.size))
        }
        guard connect(number, address.pointee.ai_addr, address.pointee.ai_addrlen) == 0 else { return nil }
        var bytes = [UInt8](repeating: 0, count: 8_192)
        var count = 0
        while count < bytes.count, bytes[..<count].last != UInt8(ascii: "\n") {
            let read = bytes.withUnsafeMutableBytes {
                recv(number, $0.baseAddress?.advanced(by: count), $0.count - count, 0)
            }
            if read <= 0 { break }
            count += read
        }
        let text = String(decoding: bytes[..<count], as: UTF8.self)
        return text.hasPrefix("INFO ") ? text : nil
    }
}
