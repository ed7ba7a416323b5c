import TestTraits
import RelayEvents
import RelayTestKit
import Testing

/// What code looks like that is given a sink or a publisher.
private func store(_ number: Int, in sink: inout some EventSink & ~Copyable) throws {
    try sink.publish(Stored(number: number))
}
private final class Counter {
    private var subscription: Subscription?
    let log = Log<Int>()
    init(_ publisher: EventPublisher) {
        subscription = publisher.subscribe(to: Stored.self) { [log] in
            log.add($0.number)
        } onGap: { _ in
        }
    }
}

@Suite("The recording sink") struct RecordingSinkTests {
    @Test("it stands in for a sink and for a publisher, and records every event of every type")
    func records() throws {
        var recorder = RecordingSink()
        let counter = Counter(recorder.publisher)
        try store(1, in: &recorder)
        recorder.publisher.publish(Numbered(number: 2))
        recorder.publisher.publish(WindowEvent.unselectApplication(3))
        #expect(recorder.events(of: Stored.self) == [Stored(number: 1)])
        #expect(recorder.events(of: Numbered.self) == [Numbered(number: 2)])
        #expect(recorder.events.count == 3)
        #expect(counter.log.values == [1])
        recorder.removeAll()
        #expect(recorder.events.isEmpty)
    }
    @Test("it records a publisher that is there already")
    func existing() {
        let publisher = EventPublisher()
        let recorder = RecordingSink(publisher)
        publisher.publish(Numbered(number: 1))
        #expect(recorder.events(of: Numbered.self).count == 1)
    }
    @Test("it waits for what other threads publish, and says when it waited in vain")
    func waits() async {
        let recorder = RecordingSink()
        let publishing = Task.detached {
            for number in 1...3 { recorder.publisher.publish(Numbered(number: number)) }
        }
        #expect(await recorder.wait(for: 3, of: Numbered.self))
        #expect(await recorder.wait(until: { $0.count == 3 }))
        #expect(await recorder.wait(for: 4, of: Numbered.self, within: .milliseconds(1)) == false)
        await publishing.value
    }
    @Test("it refuses when told to, and records nothing then")
    func refuses() throws {
        var recorder = RecordingSink()
        recorder.refuse(with: RelayError(.storageFull, "no room"))
        #expect(throws: RelayError.self) { try store(1, in: &recorder) }
        #expect(recorder.events.isEmpty)
        recorder.refuse(with: nil)
        try store(2, in: &recorder)
        #expect(recorder.events(of: Stored.self) == [Stored(number: 2)])
    }
    @Test("it lets its publisher go")
    func leaksNothing() {
        weak var gone: EventPublisher?
        do { gone = RecordingSink().publisher }
        #expect(gone == nil)
    }
}
