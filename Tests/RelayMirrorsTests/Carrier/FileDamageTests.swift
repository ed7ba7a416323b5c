import Glibc
import RelayCore
import TestTraits
import Testing

@testable import RelayMirrors

@Suite("A channel's file that was damaged", .tags(.g8)) struct FileDamageTests {
    private static let messages = (1...5).map { number in
        ChannelFolder.message(number, size: number * 9, kind: number == 2 ? .snapshot : .page)
    }
    /// What connections make of a file with these bytes: nothing but the messages that were appended.
    private static func examine(_ folder: ChannelFolder, _ bytes: [UInt8], _ what: String) async throws {
        try folder.faults.restore(bytes)
        func check(_ connection: FileConnection) {
            guard let bounds = try? connection.bounds() else { return }
            #expect(bounds.last <= 5, "\(what)")
            for number in 1...6 as ClosedRange<UInt64> {
                guard let message = try? connection.message(number) else { continue }
                // What a message says is checked by who reads it.
                let isWhole = (try? MirrorMessage(message)) != nil
                #expect(!isWhole || message == messages[Int(number) - 1], "\(what): #\(number)")
            }
            _ = try? (connection.newest(.page), connection.newest(.snapshot))
        }
        check(try folder.source())
        let sink = try folder.sink()
        check(sink)
        // It can be written again, and what is written can be read.
        let last = try sink.bounds().last
        #expect(try await sink.append([42], expecting: last), "\(what)")
        #expect(try folder.source().message(last + 1) == [42], "\(what)")
    }
    private static func folder() async throws -> (ChannelFolder, [UInt8]) {
        let folder = try ChannelFolder()
        let sink = try folder.sink()
        for (index, message) in messages.enumerated() {
            #expect(try await sink.append(message, expecting: UInt64(index)))
        }
        return (folder, try folder.faults.copy())
    }
    @Test("cut off anywhere, it shows what is whole, and is written again") func truncation() async throws {
        let (folder, bytes) = try await Self.folder()
        // All between the header and the records is empty.
        let lengths = Array(0...ChannelHeader.size) + Array(ChannelHeader.start...bytes.count)
        for length in lengths { try await Self.examine(folder, Array(bytes[..<length]), "\(length) bytes") }
    }
    @Test("with any byte changed, it shows no message that was not appended") func flips() async throws {
        let (folder, bytes) = try await Self.folder()
        for index in Array(0..<ChannelHeader.size) + Array(ChannelHeader.start..<bytes.count) {
            for change in [1, 0x80] as [UInt8] {
                var damaged = bytes
                damaged[index] ^= change
                try await Self.examine(folder, damaged, "byte \(index) ^ \(change)")
            }
        }
    }
    @Test("what the disk is known to have is not read at each start; damage there is an error that says what to do")
    func synced() async throws {
        let (folder, _) = try await Self.folder()
        try folder.faults.sync()
        var bytes = try folder.faults.copy()
        bytes[ChannelHeader.start + 4] ^= 1
        try folder.faults.restore(bytes)
        let sink = try folder.sink()
        #expect(try sink.bounds().last == 5 && sink.message(5) == Self.messages[4])
        let error = #expect(throws: RelayError.self) { try sink.message(1) }
        #expect(error?.message.contains("remove the file") == true)
    }
    @Test("what is no channel's file is put aside") func others() async throws {
        let (folder, _) = try await Self.folder()
        try folder.faults.restore(Array("not a channel".utf8))
        let source = try folder.source()
        #expect(throws: RelayError.self) { try source.bounds() }
        #expect(try folder.sink().bounds().last == 0)
        #expect(access(folder.faults.path + ".damaged", F_OK) == 0)
    }
}
