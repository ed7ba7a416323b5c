import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayCore
import RelayWire

@Suite("Many callers at once", .heavy, .tags(.g3, .g4)) struct ManyCallersTests {
    private static let peers = 100
    /// How the calls of one connection ended, in the order of the answers.
    private final class Answers: Sendable {
        private let state = Mutex<(answered: [Int64], refused: [Int64], other: [RelayError])>(([], [], []))
        func add(_ number: Int64, _ result: Result<BusReply, RelayError>) {
            state.withLock { state in
                switch result {
                case .success: state.answered.append(number)
                case .failure(let error) where error.code == .limitsExceeded: state.refused.append(number)
                case .failure(let error): state.other.append(error)
                }
            }
        }
        var count: Int { state.withLock { $0.answered.count + $0.refused.count + $0.other.count } }
        var answered: [Int64] { state.withLock { $0.answered } }
        var refused: [Int64] { state.withLock { $0.refused } }
        var others: [RelayError] { state.withLock { $0.other } }
    }
    /// So many connections, on one loop.
    private func connect(_ fixture: BusFixture) async throws -> [BusFixture.Peer] {
        var peers: [BusFixture.Peer] = []
        for _ in 0..<Self.peers { peers.append(try await fixture.peer()) }
        return peers
    }
    /// Each connection makes so many calls at once. Returns how they ended, by connection.
    private func flood(_ peers: [BusFixture.Peer], calls: Int64) async throws -> [Answers] {
        let answers = peers.map { _ in Answers() }
        for number in 1...calls {
            for (peer, answers) in zip(peers, answers) {
                peer.connection.send(try Workshop.call("Greet", [.int64(number)]), timeout: .seconds(300)) { result in
                    answers.add(number, result)
                }
            }
        }
        #expect(await eventually { answers.allSatisfy { $0.count == Int(calls) } })
        return answers
    }

    @Test("10,000 calls from 100 connections: each is answered or refused, in order, and none is refused at 40 a peer")
    func calls() async throws {
        let fixture = try BusFixture()
        let workshop = try Workshop(fixture.bus.bus)
        try await workshop.service.start()
        let peers = try await connect(fixture)
        for _ in 0..<TestForm.rounds(1, soak: 20) {
            let modest = try await flood(peers, calls: 40)
            for answers in modest { #expect(answers.answered == Array(1...40) && answers.others.isEmpty) }
            let before = workshop.notes.count
            let answers = try await flood(peers, calls: 100)
            // Replies come in the order of the calls, and so did they run.
            let ran = Dictionary(grouping: workshop.notes[before...]) { String($0.prefix { $0 != " " }) }
            for (peer, answers) in zip(peers, answers) {
                #expect(answers.others.isEmpty, "\(answers.others)")
                #expect(answers.answered == answers.answered.sorted() && answers.answered.count >= 64)
                #expect(ran[peer.name] == answers.answered.map { "\(peer.name) \($0)" })
                #expect(Set(answers.answered + answers.refused) == Set(1...100))
            }
            #expect(await eventually { workshop.isEmpty })
        }
        try await workshop.service.stop()
    }
    @Test("what waits of 100 connections that call without end is bounded") func bounded() async throws {
        let fixture = try BusFixture()
        let workshop = try Workshop(fixture.bus.bus)
        try await workshop.service.start()
        let peers = try await connect(fixture)
        let answers = Answers()
        for peer in peers {
            peer.connection.send(try Workshop.call("Labour", [.int64(1)]), timeout: .seconds(300)) {
                answers.add(1, $0)
            }
        }
        #expect(await eventually { workshop.notes.count == Self.peers })
        for _ in 1...100 {
            for peer in peers {
                peer.connection.send(try Workshop.call("Greet", [.int64(2)]), timeout: .seconds(300)) {
                    answers.add(2, $0)
                }
            }
        }
        // One runs and 64 wait of each: what is beyond that has been refused.
        #expect(await eventually { answers.refused.count == Self.peers * 36 })
        #expect(workshop.service.core.queues.count == Self.peers * 65)
        workshop.release(1)
        #expect(await eventually { answers.answered.count == Self.peers * 65 })
        #expect(await eventually { workshop.isEmpty })
        // An optimised build lets go of what is not used any more: an open connection is.
        for peer in peers { peer.connection.close() }
        try await workshop.service.stop()
    }
    @Test("100 clients that vanish in the middle of a call leave nothing behind") func vanishing() async throws {
        let fixture = try BusFixture()
        let workshop = try Workshop(fixture.bus.bus)
        try await workshop.service.start()
        let known = workshop.peers
        for round in 0..<Int64(TestForm.rounds(2, soak: 50)) {
            let peers = try await connect(fixture)
            for (index, peer) in peers.enumerated() {
                let number = round * 1_000 + Int64(index)
                // A half runs, and is cancelled by the departure; the others wait behind one that is not.
                if index.isMultiple(of: 2) {
                    peer.connection.send(try Workshop.call("Labour", [.int64(number)])) { _ in }
                }
                peer.connection.send(try Workshop.call("Work", [.int64(number), .int32(3)])) { _ in }
                peer.connection.send(try Workshop.call("Greet", [.int64(number)])) { _ in }
            }
            let started = { (word: String) in
                workshop.notes.count { $0.hasPrefix(word) && (Int64($0.dropFirst(word.count)) ?? -1) >= round * 1_000 }
            }
            #expect(await eventually { started("labour ") == 50 && started("work ") == 50 })
            for peer in peers { peer.connection.close() }
            // The bus reports departures in any order: until all are known, releasing one call would start another that waits.
            #expect(await eventually { started("cancelled ") == 50 && workshop.peers == known })
            for index in 0..<Int64(Self.peers) { workshop.release(round * 1_000 + index) }
            #expect(await eventually { workshop.isEmpty })
            #expect(started("done ") == 50, "what is not cancellable runs to its end")
            let credentials = await withCheckedContinuation { continuation in
                let core = workshop.service.core
                core.loop.execute { continuation.resume(returning: core.directory.state.onLoop.known.count) }
            }
            #expect(credentials == 0)
        }
        try await workshop.service.stop()
    }
}
