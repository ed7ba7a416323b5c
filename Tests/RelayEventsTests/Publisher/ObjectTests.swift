import TestTraits
import Dispatch
import Glibc
import RelayTestKit
import Synchronization
import Testing

@testable import RelayEvents

@MainActor private final class View {
    private(set) var numbers: [Int] = []
    func follow(_ publisher: EventPublisher) {
        publisher.subscribe(self, to: Numbered.self) { me, event in
            MainActor.assertIsolated()
            me.numbers.append(event.number)
        } onGap: { _, _ in
        }
    }
}
private actor Ledger {
    private(set) var numbers: [Int] = []
    private let onEnd: @Sendable () -> Void
    init(onEnd: @escaping @Sendable () -> Void = {}) { self.onEnd = onEnd }
    deinit { onEnd() }
    func add(_ number: Int) { numbers.append(number) }
    func follow(_ publisher: EventPublisher) {
        publisher.subscribe(self, to: Lettered.self) { me, event in
            me.numbers.append(-event.number)
        } onGap: { _, _ in
        }
        publisher.subscribe(self, to: Lettered.self) { me, event in
            me.numbers.append(1_000)
        } onGap: { _, _ in
        }
    }
}
private final class Plain: Sendable {
    let log: Log<Int>
    init(_ log: Log<Int> = Log()) { self.log = log }
    func follow(_ publisher: EventPublisher) {
        publisher.subscribe(self, to: Numbered.self) {
            $0.log.add($1.number)
        } onGap: { _, _ in
        }
    }
}
private final class PlaceRecorder: Sendable {
    let log = Log<String>()
    func follow(_ publisher: EventPublisher) {
        publisher.subscribe(self, to: Numbered.self) { me, _ in
            me.note()
            await Task.yield()
            me.note()
        } onGap: { _, _ in
        }
    }
    private func note() { log.add(DispatchQueue.getSpecific(key: DispatchQueue.isHere) ?? "elsewhere") }
}

@Suite("Objects as subscribers") struct ObjectTests {
    @Test("the same object subscribed twice is one subscriber, until it is unsubscribed")
    @MainActor func twiceIsOnce() async {
        let publisher = EventPublisher()
        let view = View()
        view.follow(publisher)
        view.follow(publisher)
        publisher.publish(Numbered(number: 1))
        publisher.publish(Numbered(number: 2))
        #expect(await eventually { view.numbers == [1, 2] })
        publisher.unsubscribe(view)
        publisher.publish(Numbered(number: 3))
        view.follow(publisher)
        publisher.publish(Numbered(number: 4))
        #expect(await eventually { view.numbers == [1, 2, 4] })
        publisher.unsubscribe(View())
    }
    @Test("a subscription that is given to unsubscribe is cancelled") func subscriptionGiven() {
        let publisher = EventPublisher(delivery: .immediate)
        let subscription = publisher.subscribe(to: Numbered.self) { _ in
        } onGap: { _ in
        }
        publisher.unsubscribe(subscription)
        #expect(!subscription.isActive)
    }
    @Test("an object is held weakly, and pruned when it is gone")
    @MainActor func heldWeakly() async {
        let publisher = EventPublisher()
        weak var gone: View?
        do {
            let view = View()
            gone = view
            view.follow(publisher)
            publisher.publish(Numbered(number: 1))
            #expect(await eventually { view.numbers == [1] })
        }
        #expect(await eventually { gone == nil })
        publisher.publish(Numbered(number: 2))
        #expect(await eventually { publisher.state.withLock { $0.objects.isEmpty } })
    }
    @Test("an actor that subscribes itself is not kept alive by it")
    func actorsWeakly() async {
        let publisher = EventPublisher()
        let ended = Log<Int>()
        do {
            let ledger = Ledger { ended.add(1) }
            await ledger.follow(publisher)
            publisher.subscribe(ledger, to: Numbered.self) { me, event in
                me.add(event.number)
            } onGap: { _, _ in
            }
            publisher.publish(Numbered(number: 1))
            publisher.publish(Lettered(number: 2))
            #expect(await eventually { await ledger.numbers.sorted() == [-2, 1] })
        }
        #expect(await eventually { ended.count == 1 })
        publisher.publish(Numbered(number: 3))
        publisher.publish(Lettered(number: 3))
        #expect(await eventually { publisher.state.withLock { $0.objects.isEmpty && $0.mailboxes.all.isEmpty } })
    }
    @Test("an object is delivered to where its delivery says, also after it awaited")
    func deliveries() async throws {
        let target = try PollableTarget()
        let publishers = [.queue(.marked("home")), .pollable(target), .immediate].map { EventPublisher(delivery: $0) }
        let (queued, polled, background) = (PlaceRecorder(), PlaceRecorder(), Plain())
        queued.follow(publishers[0])
        polled.follow(publishers[1])
        background.follow(publishers[2])
        for publisher in publishers { publisher.publish(Numbered(number: 1)) }
        #expect(await eventually { queued.log.values == ["home", "home"] && background.log.values == [1] })
        let loop = DispatchQueue.marked("loop")
        #expect(polled.log.values.isEmpty)
        #expect(
            await eventually {
                loop.sync { target.drain() }
                return polled.log.values == ["loop", "loop"]
            })
    }
    @Test("two threads that subscribe the same object make one subscriber")
    func concurrently() async {
        for _ in 0..<200 {
            let publisher = EventPublisher()
            let object = Plain()
            await withTaskGroup { group in
                for _ in 0..<4 { group.addTask { object.follow(publisher) } }
            }
            publisher.publish(Numbered(number: 1))
            publisher.publish(Numbered(number: 2))
            #expect(await eventually { object.log.count >= 2 })
            #expect(object.log.values == [1, 2])
            #expect(publisher.state.withLock { $0.channel(for: Numbered.self).buffered.count } == 1)
        }
    }
    @Test("an object at the address of a dead one is a new subscriber")
    func reusedAddress() async {
        let publisher = EventPublisher()
        var (addresses, reused): (Set<ObjectIdentifier>, Int) = ([], 0)
        for number in 0..<500 {
            let log = Log<Int>()
            let object = Plain(log)
            if !addresses.insert(ObjectIdentifier(object)).inserted { reused += 1 }
            object.follow(publisher)
            publisher.publish(Numbered(number: number))
            #expect(await eventually { log.values == [number] })
        }
        // AddressSanitizer keeps freed memory for a while, so that a late use of it is seen.
        let isKept = dlsym(nil, "__asan_init") != nil
        #expect(reused > 0 || isKept)
    }
    @Test("an actor at the address of a dead one is a new subscriber")
    func reusedActor() async {
        let publisher = EventPublisher()
        for number in 0..<300 {
            let ledger = Ledger()
            await ledger.follow(publisher)
            publisher.publish(Lettered(number: number))
            #expect(await eventually { await ledger.numbers == [-number] })
        }
    }
    @Test("dead objects don't gather, though no event comes")
    func swept() {
        let publisher = EventPublisher()
        let kept = (0..<20).map { _ in Plain() }
        for object in kept { object.follow(publisher) }
        for _ in 0..<1_000 { Plain().follow(publisher) }
        #expect(publisher.state.withLock { $0.objects.count } <= 100)
        withExtendedLifetime(kept) {}
    }
    @Test("an object released while it is being called ends its call, and is called no more")
    func releasedDuringDelivery() async {
        final class SelfReleasing: Sendable {
            let holder: Holder<SelfReleasing>, log: Log<Int>
            init(_ holder: Holder<SelfReleasing>, _ log: Log<Int>) { (self.holder, self.log) = (holder, log) }
            func on(_ event: Numbered) async {
                holder.hold(nil)
                await Task.yield()
                log.add(event.number)
            }
            func follow(_ publisher: EventPublisher) {
                publisher.subscribe(self, to: Numbered.self) {
                    await $0.on($1)
                } onGap: { _, _ in
                }
            }
            deinit { log.add(-1) }
        }
        let publisher = EventPublisher()
        let (holder, log) = (Holder<SelfReleasing>(), Log<Int>())
        do {
            let object = SelfReleasing(holder, log)
            holder.hold(object)
            object.follow(publisher)
        }
        for number in 1...3 { publisher.publish(Numbered(number: number)) }
        #expect(await eventually { log.values == [1, -1] })
        #expect(await eventually { publisher.state.withLock { $0.objects.isEmpty } })
        #expect(log.values == [1, -1])
    }
    @Test("unsubscribing from another thread, in a flood, is safe")
    func unsubscribedElsewhere() async {
        let publisher = EventPublisher()
        for _ in 0..<50 {
            let object = Plain()
            object.follow(publisher)
            await withTaskGroup { group in
                group.addTask { for number in 1...50 { publisher.publish(Numbered(number: number)) } }
                group.addTask { publisher.unsubscribe(object) }
            }
            #expect(publisher.state.withLock { $0.objects.isEmpty })
            #expect(object.log.values == object.log.values.sorted())
        }
    }
    @Test("a closure for an object on no actor runs where the publisher says, while the object lives")
    func closuresForObjects() async throws {
        let target = try PollableTarget()
        let publisher = EventPublisher(delivery: .pollable(target))
        let log = Log<Int>()
        var object: Plain? = Plain(log)
        publisher.subscribe(object!, to: Lettered.self) {
            $0.log.add($1.number)
        } onGap: { _, _ in
        }
        publisher.publish(Lettered(number: 1))
        #expect(
            await eventually {
                target.drain()
                return log.values == [1]
            })
        object = nil
        publisher.publish(Lettered(number: 2))
        #expect(
            await eventually {
                target.drain()
                return publisher.state.withLock { $0.objects.isEmpty }
            })
        #expect(log.values == [1])
    }
}
