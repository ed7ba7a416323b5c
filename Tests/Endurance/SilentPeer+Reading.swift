import RelayCore
import RelayTestKit
import RelayWire

extension SilentPeer {
    /// Asks the ledger for all that it has, so many times.
    func read(_ interface: String, of service: String, times: Int) throws {
        var body = WireWriter()
        try Stream1.write(StreamRead(names: [Stream1.allNames], after: 0, limit: 0), into: &body)
        let header = MessageHeader.methodCall(
            path: Stream1.path(of: interface), interface: Stream1.name, member: "Read", destination: service,
            signature: try Signature(Stream1.readSignature))
        for _ in 0..<times { try send(header, body.bytes) }
    }
}
