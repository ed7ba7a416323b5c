import RelayCore
import RelayTestKit
import TestTraits
import Testing

private enum Saws1: EventInterface {
    static let name = "org.example.Saws1"
    static let durability = Volatile()
    static var contract: Contract<Self> {
        Cut.self
        Clean.self
        Count.self
    }
}
private struct Cut: Command {
    typealias Interface = Saws1
    let length: Int32
    struct Reply: Codable, Sendable, Equatable { let pieces: Int32 }
    enum Refusal: String, CommandRefusal, CaseIterable { case tooLong = "TooLong", tooShort = "TooShort" }
}
/// Without a reply, and with a failure that has the name of another command's.
private struct Clean: Command {
    typealias Interface = Saws1
    enum Refusal: String, CommandRefusal, CaseIterable { case tooLong = "TooLong" }
}
/// Without refusals.
private struct Count: Command {
    typealias Interface = Saws1
    struct Reply: Codable, Sendable { let saws: Int32 }
}

/// What a service does with the calls of one test.
private enum Case: String, CaseIterable, Sendable {
    case answers, tooLong, tooShort, otherTooLong, absent

    var length: Int32 {
        switch self {
        case .tooLong: 9
        case .tooShort: 0
        default: 1
        }
    }
    /// Which clause of the forms below serves it.
    var expected: String {
        switch self {
        case .answers: "reply"
        case .tooLong: "tooLong"
        case .tooShort, .otherTooLong: "refused"
        case .absent: "unavailable"
        }
    }
}
/// A relay whose service does that.
private struct Workshop: Sendable {
    let harness = TestHarness()
    let relay: EventRelay

    init(_ what: Case) async throws {
        if what != .absent {
            let service = try EventService(name: "org.example.Workshop", on: harness.bus, exporting: Saws1.self)
            service.handle(Cut.self) { cut, _ in
                if cut.length > 5 { throw Cut.Refusal.tooLong }
                if cut.length < 1 { throw Cut.Refusal.tooShort }
                return Cut.Reply(pieces: 2)
            }
            service.handle(Clean.self) { _, _ in if what == .otherTooLong { throw Clean.Refusal.tooLong } }
            service.handle(Count.self) { _, _ in Count.Reply(saws: 3) }
            try await harness.start(service)
        }
        relay = try EventRelay(following: "org.example.Workshop", on: harness.bus, interfaces: Saws1.self)
        relay.activate()
    }
}

// MARK: Functions

private func switched(_ relay: EventRelay, _ what: Case) async -> String {
    switch await relay.outcome(of: Cut(length: what.length)) {
    case .success(let reply): if reply.pieces != 2 { return "\(reply)" }
    case .refused(.tooLong): return "tooLong"
    case .refused: return "refused"
    case .failed(let error) where error.code == .unavailable: return "unavailable"
    case .failed(let error): return error.message
    }
    switch await relay.outcome(of: Clean()) {
    case .success: break
    case .refused(let failure): return failure == .tooLong ? "refused" : failure.message
    case .failed(let error): return error.message
    }
    switch await relay.outcome(of: Count()) {
    case .success(let reply): return reply.saws == 3 ? "reply" : "\(reply)"
    case .failed(let error): return error.message
    }
}
private func caught(_ relay: EventRelay, _ what: Case) async -> String {
    do {
        let reply = try await relay.call(Cut(length: what.length))
        try await relay.call(Clean())
        return try await relay.call(Count()).saws == 3 && reply.pieces == 2 ? "reply" : "\(reply)"
    } catch Cut.Refusal.tooLong {
        return "tooLong"
    } catch is any CommandRefusal {
        return "refused"
    } catch .unavailable {
        return "unavailable"
    } catch {
        return "\(error)"
    }
}
private func asked(_ relay: EventRelay, _ what: Case) async -> String {
    do {
        _ = try await relay.call(Cut(length: what.length))
        try await relay.call(Clean())
    } catch let refusal as Cut.Refusal where refusal == .tooLong {
        return "tooLong"
    } catch let error as RelayError where error.code == .unavailable {
        return "unavailable"
    } catch let error as RelayError {
        return error.message
    } catch {
        return "refused"
    }
    return "reply"
}
private func typed(_ relay: EventRelay, _ what: Case) async -> String {
    do {
        _ = try await relay.outcome(of: Cut(length: what.length)).get()
        _ = try await relay.outcome(of: Clean()).get()
        return "reply"
    } catch {
        if error as? Cut.Refusal == .tooLong { return "tooLong" }
        return error is any CommandRefusal ? "refused" : "unavailable"
    }
}
/// Some codes only, in a function that throws on and has a variable.
private func partial(_ relay: EventRelay, _ what: Case) async throws -> String {
    var line = "reply"
    let note: (String) -> Void = { line = $0 }
    do {
        _ = try await relay.call(Cut(length: what.length))
        try await relay.call(Clean())
    } catch Cut.Refusal.tooLong { note("tooLong") } catch .unavailable { note("unavailable") }
    return line
}
// MARK: Methods, and tasks of an actor

@MainActor private final class Bench {
    let relay: EventRelay
    let what: Case
    var line = ""
    init(_ relay: EventRelay, _ what: Case) { (self.relay, self.what) = (relay, what) }

    func switched() async {
        switch await relay.outcome(of: Cut(length: what.length)) {
        case .success(let reply): line = reply.pieces == 2 ? "reply" : "\(reply)"
        case .refused(.tooLong): line = "tooLong"
        case .refused: line = "refused"
        case .failed(let error): line = error.code == .unavailable ? "unavailable" : error.message
        }
        if line == "reply", await relay.outcome(of: Clean()) == .refused(.tooLong) { line = "refused" }
    }
    func caught() async {
        do {
            let reply = try await relay.call(Cut(length: what.length))
            try await relay.call(Clean())
            line = reply.pieces == 2 ? "reply" : "\(reply)"
        } catch Cut.Refusal.tooLong {
            line = "tooLong"
        } catch is any CommandRefusal {
            line = "refused"
        } catch .unavailable {
            line = "unavailable"
        } catch {
            line = "\(error)"
        }
    }
    func asked() async {
        do {
            _ = try await relay.call(Cut(length: what.length))
            try await relay.call(Clean())
            line = "reply"
        } catch let refusal as Cut.Refusal where refusal == .tooLong {
            line = "tooLong"
        } catch let error as RelayError {
            line = error.code == .unavailable ? "unavailable" : error.message
        } catch {
            line = "refused"
        }
    }
    func typed() async {
        do {
            _ = try await relay.outcome(of: Cut(length: what.length)).get()
            _ = try await relay.outcome(of: Clean()).get()
            line = "reply"
        } catch {
            let isOurs = error as? Cut.Refusal == .tooLong
            line = isOurs ? "tooLong" : error is any CommandRefusal ? "refused" : "unavailable"
        }
    }
    func switchedInTask() -> Task<Void, Never> {
        Task {
            switch await relay.outcome(of: Cut(length: what.length)) {
            case .success(let reply): line = reply.pieces == 2 ? "reply" : "\(reply)"
            case .refused(.tooLong): line = "tooLong"
            case .refused: line = "refused"
            case .failed(let error): line = error.code == .unavailable ? "unavailable" : error.message
            }
            if line == "reply", await relay.outcome(of: Clean()) == .refused(.tooLong) { line = "refused" }
        }
    }
    func caughtInTask() -> Task<Void, Never> {
        Task {
            do {
                let reply = try await relay.call(Cut(length: what.length))
                try await relay.call(Clean())
                line = reply.pieces == 2 ? "reply" : "\(reply)"
            } catch Cut.Refusal.tooLong {
                line = "tooLong"
            } catch is any CommandRefusal {
                line = "refused"
            } catch .unavailable {
                line = "unavailable"
            } catch {
                line = "\(error)"
            }
        }
    }
    func askedInTask() -> Task<Void, Never> {
        Task {
            do {
                _ = try await relay.call(Cut(length: what.length))
                try await relay.call(Clean())
                line = "reply"
            } catch let refusal as Cut.Refusal where refusal == .tooLong {
                line = "tooLong"
            } catch let error as RelayError {
                line = error.code == .unavailable ? "unavailable" : error.message
            } catch {
                line = "refused"
            }
        }
    }
    func typedInTask() -> Task<Void, Never> {
        Task {
            do {
                _ = try await relay.outcome(of: Cut(length: what.length)).get()
                _ = try await relay.outcome(of: Clean()).get()
                line = "reply"
            } catch {
                let isOurs = error as? Cut.Refusal == .tooLong
                line = isOurs ? "tooLong" : error is any CommandRefusal ? "refused" : "unavailable"
            }
        }
    }
    func partialInTask() -> Task<Void, any Error> {
        Task {
            do {
                _ = try await relay.call(Cut(length: what.length))
                try await relay.call(Clean())
                line = "reply"
            } catch Cut.Refusal.tooLong { line = "tooLong" } catch .unavailable {
                line = "unavailable"
            }
        }
    }
}

/// `Tests/Refusals/call-forms.swift` has the same forms, for the compiler's words.
@Suite("Each form of a call ends in the clause that it documents") struct CallFormTests {
    @Test("in a function", arguments: Case.allCases) private func function(_ what: Case) async throws {
        let workshop = try await Workshop(what)
        for form in [switched, caught, asked, typed] { #expect(await form(workshop.relay, what) == what.expected) }
        let line = try? await partial(workshop.relay, what)
        #expect(line == (what.expected == "refused" ? nil : what.expected))
    }
    @Test("in a method", arguments: Case.allCases) @MainActor private func method(_ what: Case) async throws {
        let workshop = try await Workshop(what)
        for form in [Bench.switched, Bench.caught, Bench.asked, Bench.typed] {
            let bench = Bench(workshop.relay, what)
            await form(bench)()
            #expect(bench.line == what.expected)
        }
    }
    @Test("in a task's closure", arguments: Case.allCases) @MainActor private func task(_ what: Case) async throws {
        let workshop = try await Workshop(what)
        for form in [Bench.switchedInTask, Bench.caughtInTask, Bench.askedInTask, Bench.typedInTask] {
            let bench = Bench(workshop.relay, what)
            await form(bench)().value
            #expect(bench.line == what.expected)
        }
        let bench = Bench(workshop.relay, what)
        try? await bench.partialInTask().value
        #expect(bench.line == (what.expected == "refused" ? "" : what.expected))
    }
}
