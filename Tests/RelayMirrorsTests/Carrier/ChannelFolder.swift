import RelayCore
import RelayTestKit

@testable import RelayMirrors

/// A carrier of files for one test, with one channel in use.
struct ChannelFolder {
    let folder: TestFolder
    let carrier: FileCarrier
    let channel: ChannelName
    var faults: FileFaults { FileFaults(channel, in: carrier) }

    init(
        keeping limit: Int? = nil, syncingAfter interval: Duration? = nil, service: String = "org.example.Ledger",
        interface: String = "org.example.Ledger1"
    ) throws {
        folder = try TestFolder(isInMemory: true)
        carrier = try FileCarrier(directory: folder.path + "/carrier", keeping: limit, syncingAfter: interval)
        channel = try ChannelName(host: "kitchen", service: service, interface: interface)
    }
    func sink() throws -> FileConnection { try FileConnection(carrier.place(of: channel), isWriter: true) }
    func source() throws -> FileConnection { try FileConnection(carrier.place(of: channel), isWriter: false) }

    /// A message that shows its number, of so many bytes; of a kind, or foreign.
    static func message(_ number: Int, size: Int = 40, kind: MirrorHeader.Kind? = nil) -> [UInt8] {
        if let kind {
            let header =
                kind == .page
                ? MirrorHeader.page(of: UInt64(number)...UInt64(number), epoch: 1, journal: 1, writer: 1)
                : MirrorHeader.snapshot(at: UInt64(number), epoch: 1, journal: 1, writer: 1)
            return MirrorMessage(header, body: [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: size)).bytes
        }
        return [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: size)
    }
}
extension FileConnection {
    /// Adds messages behind what is there.
    func fill(_ count: Int, size: Int = 40, kind: MirrorHeader.Kind? = nil) async throws {
        for _ in 0..<count {
            let last = try bounds().last
            let isAdded = try await append(
                ChannelFolder.message(Int(last) + 1, size: size, kind: kind), expecting: last)
            if !isAdded { throw RelayError(.internalFailure, "not behind #\(last)") }
        }
    }
}
