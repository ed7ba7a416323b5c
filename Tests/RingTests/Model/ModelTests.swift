import TestTraits
import Testing

/// The protocol, by every interleaving and every order in which a weakly ordered machine may show its loads and stores.
@Suite("The ring's protocol as a model", .heavy, .tags(.g2)) struct ModelTests {
    /// A ring of one record is overwritten under the reader most often, one of two has an old record beside the new one.
    static let sizes = [(records: 3, capacity: 1), (records: 3, capacity: 2), (records: 4, capacity: 2)]
    /// Those, and some in which more than a record is announced at once.
    static let shapes = sizes.map { ($0.records, $0.capacity, 1) } + [(3, 2, 2), (5, 3, 2), (5, 4, 2)]

    @Test("delivers no torn event and loses no wake", arguments: shapes) func holds(shape: (Int, Int, Int)) async throws
    {
        let (records, capacity, part) = shape
        let all = try await onThread { Exploration(RingModel(records: records, capacity: capacity, part: part)) }
        #expect(all.failures == [])
        #expect(all.ends > 0)
        #expect(all.lappedEnds > 0)
        print("model of \(records) records in \(capacity), announced by \(part): \(all.states) states")
    }
    @Test("loses no wake through the waker's thread") func waker() async throws {
        // Three events in a ring of three are 130,000 states: for the long run.
        let records = TestForm.rounds(2, soak: 3)
        let all = try await onThread { Exploration(RingModel(records: records, capacity: records, hasWaker: true)) }
        #expect(all.failures == [])
        #expect(all.ends > 0)
        print("model with a waker: \(all.states) states")
    }
    @Test("fails without any one of its fences and looks", arguments: RingGuard.allCases)
    func fails(without missing: RingGuard) async throws {
        let isWakers = missing == .claimBeforeLook || missing == .wakersFullFence
        let models =
            isWakers
            ? [RingModel(records: 2, capacity: 2, hasWaker: true, without: missing)]
            : Self.sizes.map { RingModel(records: $0.records, capacity: $0.capacity, without: missing) }
        let failures = try await onThread {
            models.lazy.map { Exploration($0, stopping: true).failures }.first { !$0.isEmpty } ?? []
        }
        let isAboutSleep: Bool
        switch missing {
        case .intentFirst, .releaseFence, .tailRelease, .tailAcquire, .acquireFence, .recheck, .jumpWithinTail:
            isAboutSleep = false
        default: isAboutSleep = true
        }
        #expect(failures == [isAboutSleep ? .asleep : .torn])
    }
}
