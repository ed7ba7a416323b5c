import Glibc
import RelayCore
import RelayTestKit
import TestTraits
import Testing

@testable import RelayMirrors

@Suite("Channels in files", .tags(.g1, .g6)) struct FileCarrierTests {
    @Test("messages come back by their numbers, forwards, backwards and from the middle") func reading() async throws {
        let folder = try ChannelFolder()
        let sink = try folder.sink()
        for number in 1...300 {
            let kind: MirrorHeader.Kind? = number % 100 == 7 ? .snapshot : number % 3 == 0 ? nil : .page
            let message = ChannelFolder.message(number, size: number * 97 % 9_000, kind: kind)
            #expect(try await sink.append(message, expecting: UInt64(number) - 1))
        }
        func expected(_ number: UInt64) -> [UInt8] {
            let kind: MirrorHeader.Kind? = number % 100 == 7 ? .snapshot : number % 3 == 0 ? nil : .page
            return ChannelFolder.message(Int(number), size: Int(number) * 97 % 9_000, kind: kind)
        }
        let orders: [[UInt64]] = [
            Array(1...300), (1...300).reversed(), (1...300).map { $0 * 77 % 300 + 1 }, [0, 301, 150, 1, 300],
        ]
        for order in orders {
            let source = try folder.source()
            for number in order {
                let message = try source.message(number)
                #expect(message == ((1...300).contains(number) ? expected(number) : nil), "#\(number)")
            }
        }
        #expect(try sink.newest(.snapshot) == 207 && sink.newest(.page) == 299)
        for limit in [0, 1, 10_000, 1 << 20] {
            let source = try folder.source()
            var next: UInt64 = 1
            while let batch = try source.messages(from: next, atMost: limit) {
                #expect(batch.first == next && batch.count > 0)
                var bytes = 0
                for index in 0..<batch.count {
                    let message = batch.withMessage(index) { Array($0) }
                    #expect(message == expected(next + UInt64(index)))
                    bytes += message.count
                }
                #expect(bytes <= limit || batch.count == 1)
                next += UInt64(batch.count)
            }
            #expect(next == 301)
        }
    }
    @Test("an append goes behind the number that it expects, or nowhere") func expectations() async throws {
        let folder = try ChannelFolder()
        let (one, other) = (try folder.sink(), try folder.sink())
        #expect(try await one.append([1], expecting: 0))
        #expect(try await !other.append([2], expecting: 0))
        #expect(try await !other.append([2], expecting: 2))
        #expect(try await other.append([2], expecting: 1))
        #expect(try one.bounds() == ChannelBounds(first: 1, last: 2) && one.message(2) == [2])
        let error = await #expect(throws: RelayError.self) {
            try await one.append([UInt8](repeating: 0, count: RecordHeader.mostBytes + 1), expecting: 2)
        }
        #expect(error?.code == .tooLarge)
        #expect(try one.bounds().last == 2)
    }
    @Test("writers that append at once: each message once, in one order") func writers() async throws {
        let folder = try ChannelFolder()
        try await withThrowingTaskGroup { group in
            for writer in 0..<4 {
                group.addTask {
                    let sink = try folder.sink()
                    for message in 0..<50 {
                        while try await !sink.append([UInt8(writer), UInt8(message)], expecting: sink.bounds().last) {}
                    }
                }
            }
            try await group.waitForAll()
        }
        let source = try folder.source()
        var next = [UInt8](repeating: 0, count: 4)
        for number in 1...200 as ClosedRange<UInt64> {
            let message = try #require(try source.message(number))
            #expect(message[1] == next[Int(message[0])])
            next[Int(message[0])] += 1
        }
        #expect(next == [50, 50, 50, 50])
    }
    @Test("a reader may come first, and waits for what is appended") func waiting() async throws {
        let folder = try ChannelFolder()
        let source = try folder.source()
        #expect(try source.bounds() == ChannelBounds(first: 1, last: 0) && source.newest(.snapshot) == nil)
        let first = Task {
            try await source.wait(behind: 0)
            return try source.bounds().last
        }
        let sink = try folder.sink()
        try await sink.fill(1)
        #expect(try await first.value == 1)
        let second = Task { try await source.wait(behind: 1) }
        try await sink.fill(1)
        try await second.value
        let third = Task { try await source.wait(behind: 2) }
        third.cancel()
        let error = await #expect(throws: RelayError.self) { try await third.value }
        #expect(error?.code == .cancelled)
    }
    @Test("whatever sets the numbers back ends the connections, before anything is read or written by them")
    func setBack() async throws {
        let changes: [(String, (ChannelFolder, [UInt8]) throws -> Void)] = [
            ("its tail is forgotten", { folder, _ in try folder.faults.forgetTail() }),
            ("it is deleted", { folder, _ in try folder.faults.delete() }),
            ("it is replaced", { folder, copy in try folder.faults.restore(copy) }),
            ("it is copied over", { folder, copy in try folder.faults.restore(copy, inPlace: true) }),
            (
                "it is copied over, and goes on",
                { folder, copy in
                    try folder.faults.restore(copy, inPlace: true)
                    for number in 0..<8 { try folder.faults.append([9, UInt8(number)]) }
                }
            ),
        ]
        for (name, change) in changes {
            let folder = try ChannelFolder()
            let sink = try folder.sink()
            try await sink.fill(3)
            let copy = try folder.faults.copy()
            try folder.faults.sync()
            try await sink.fill(3)
            let source = try folder.source()
            #expect(try source.message(6) != nil)
            try change(folder, copy)
            for connection in [sink, source] {
                for _ in 0..<2 {
                    #expect(throws: RelayError.self, "\(name)") { try connection.message(1) }
                    #expect(throws: RelayError.self, "\(name)") { try connection.bounds() }
                }
            }
            let error = await #expect(throws: RelayError.self) { try await sink.append([1], expecting: 6) }
            #expect(error?.code == .conflict, "\(name): \(error as Any)")
            let again = try folder.sink()
            let kept = try again.bounds().last
            #expect(kept == (name.hasSuffix("deleted") ? 0 : name.hasSuffix("goes on") ? 11 : 3), "\(name)")
            #expect(try await again.append([7], expecting: kept))
            #expect(try again.message(kept + 1) == [7])
        }
    }
    @Test("what a dead writer began is never shown, and cut off") func torn() async throws {
        let folder = try ChannelFolder()
        let sink = try folder.sink()
        try await sink.fill(2)
        try folder.faults.tear([UInt8](repeating: 0xEE, count: 3_000))
        let source = try folder.source()
        #expect(try source.bounds().last == 2 && source.message(3) == nil)
        #expect(try await sink.append([3], expecting: 2))
        #expect(try source.message(3) == [3])
        try folder.faults.tear([1])
        #expect(try folder.sink().bounds().last == 3)
    }
    @Test("messages that were removed are gone, and their room with them; the others keep their numbers")
    func removal() async throws {
        let folder = try ChannelFolder()
        let sink = try folder.sink()
        try await sink.fill(40, size: 100_000)
        let source = try folder.source()
        #expect(try source.message(5) != nil)
        var before = stat()
        try #require(stat(folder.faults.path, &before) == 0)
        try folder.faults.remove(through: 30)
        for connection in [sink, source] {
            #expect(try connection.bounds() == ChannelBounds(first: 31, last: 40))
            #expect(try connection.message(30) == nil && connection.message(31)?.first == 31)
        }
        var after = stat()
        try #require(stat(folder.faults.path, &after) == 0)
        #expect(after.st_size == before.st_size && after.st_blocks < before.st_blocks / 2)
        try folder.faults.remove(through: 99)
        #expect(try source.bounds() == ChannelBounds(first: 41, last: 40))
        try await sink.fill(1, kind: .snapshot)
        #expect(try source.newest(.snapshot) == 41)
        try folder.faults.remove(through: 41)
        #expect(try source.newest(.snapshot) == nil)
        // Nothing that is left is synced.
        try await sink.fill(1)
        #expect(try folder.faults.forgetTail() == 1)
        #expect(try folder.sink().bounds() == ChannelBounds(first: 42, last: 41))
    }
    @Test("a channel keeps as many bytes as it may") func limit() async throws {
        let folder = try ChannelFolder(keeping: 50_000)
        let sink = try folder.sink()
        for _ in 0..<100 {
            try await sink.fill(1, size: 3_000)
            let bounds = try sink.bounds()
            #expect((bounds.last - bounds.first + 1) * 3_000 <= 50_000)
        }
        #expect(try sink.bounds().first > 80 && sink.message(100)?.count == 3_000)
    }
    @Test("what was appended is synced after a while, and then survives") func syncing() async throws {
        let folder = try ChannelFolder(syncingAfter: .milliseconds(1))
        let sink = try folder.sink()
        try await sink.fill(3)
        try await sink.sync()
        try await sink.fill(1)
        #expect(
            await eventually {
                let header = (try? folder.faults.copy())?.withUnsafeBytes { bytes in
                    ChannelHeader(UnsafeRawBufferPointer(rebasing: bytes[..<ChannelHeader.size]))
                }
                return header?.synced.number == 4
            })
        #expect(try folder.faults.forgetTail() == 0)
    }
    @Test("only this user gets at the files, and only good names become paths") func names() async throws {
        let folder = try ChannelFolder()
        _ = try folder.sink()
        var status = stat()
        for (path, mode) in [(folder.carrier.directory, 0o700), (folder.faults.path, 0o600)] as [(String, mode_t)] {
            try #require(stat(path, &status) == 0)
            #expect(status.st_mode & 0o777 == mode)
        }
        #expect(try folder.carrier.channels() == [folder.channel])
        for (host, service, interface) in [
            ("..", "org.example.A", "org.example.A1"), ("kitchen", "..", "org.example.A1"),
            ("kitchen", "org.example.A", "../../x"), ("kitchen", "org.example.A", "A1"),
            ("kitchen", "org.eventrelay.Mirror1.office.a.b", "org.example.A1"),
        ] {
            let error = #expect(throws: RelayError.self) {
                try ChannelName(host: host, service: service, interface: interface)
            }
            #expect(error?.code == .invalidArgument)
        }
        try #require(chmod(folder.carrier.directory, 0o777) == 0)
        let error = #expect(throws: RelayError.self) { try FileCarrier(directory: folder.carrier.directory) }
        #expect(error?.message.contains("chmod go-w") == true)
    }
}
