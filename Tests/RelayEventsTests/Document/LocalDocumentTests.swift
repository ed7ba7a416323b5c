import Dispatch
import RelayTestKit
import TestTraits
import Testing

@testable import RelayEvents

private struct Inventory: Equatable, Sendable {
    var boxes: [String] = []
    var count = 0
}
@MainActor private final class BoxList: DocumentView {
    private(set) var counts: [Int] = []
    func show(_ inventory: Inventory) {
        MainActor.assertIsolated()
        counts.append(inventory.count)
    }
}
private actor Ledger: DocumentView {
    private(set) var counts: [Int] = []
    private let onEnd: @Sendable () -> Void
    init(onEnd: @escaping @Sendable () -> Void = {}) { self.onEnd = onEnd }
    deinit { onEnd() }
    func show(_ inventory: Inventory) { counts.append(inventory.count) }
}
private final class Plain: DocumentView, Sendable {
    let log = Log<Int>()
    func show(_ inventory: Inventory) { log.add(inventory.count) }
}
/// Not sendable: it belongs to the actor that adds it.
private final class Local: DocumentView {
    var counts: [Int] = []
    func show(_ inventory: Inventory) { counts.append(inventory.count) }
}
@MainActor private final class Slow: DocumentView {
    private(set) var counts: [Int] = []
    private var isInside = false
    @MainActor func show(_ inventory: Inventory) async {
        #expect(!isInside)
        isInside = true
        await Task.yield()
        isInside = false
        counts.append(inventory.count)
    }
}

@Suite("A document and its views") struct DocumentTests {
    static let places: [@Sendable () -> DeliveryTarget] = [
        { .immediate }, { .background }, { .mainActor }, { .queue(DispatchQueue(label: "serial")) },
        { .queue(.global()) },
    ]

    @Test(
        "a view is called with the present state, then with each change; an equal state is no change",
        arguments: places.indices)
    func changes(_ place: Int) async {
        let document = LocalDocument(1, delivery: Self.places[place]())
        let (first, second) = (Log<Int>(), Log<Int>())
        document.addView(key: "first") { first.add($0) }
        document.set(1)
        document.set(2)
        document.update { $0 += 1 }
        document.update { $0 += 0 }
        #expect(await eventually { first.count == 3 })
        document.addView(key: "second") { second.add($0) }
        document.set(4)
        #expect(document.state == 4)
        #expect(await eventually { first.count == 4 && second.count == 2 && document.isIdle })
        #expect(first.values == [1, 2, 3, 4] && second.values == [3, 4])
    }
    @Test("an immediate view has been called when set returns")
    func immediate() {
        let document = LocalDocument(0, delivery: .immediate)
        let log = Log<Int>()
        document.addView(key: 1) { log.add($0) }
        #expect(log.values == [0])
        document.set(5)
        #expect(log.values == [0, 5])
    }
    @Test("views of several kinds on one document, each where it belongs")
    @MainActor func kinds() async throws {
        let document = LocalDocument(Inventory())
        let (list, ledger, plain, local, slow) = (BoxList(), Ledger(), Plain(), Local(), Slow())
        let (closure, queued, polled) = (Log<Int>(), Log<Int>(), Log<Int>())
        let target = try PollableTarget()
        document.addView(list, key: "list")
        document.addView(ledger, key: "ledger")
        document.addView(plain, key: "plain", delivery: .background)
        document.addView(local, key: "local")
        document.addView(slow, key: "slow")
        document.addView(key: "closure") {
            MainActor.assertIsolated()
            closure.add($0.count)
        }
        document.addView(key: "queued", delivery: .queue(.global())) { queued.add($0.count) }
        document.addView(key: "polled", delivery: .pollable(target)) { polled.add($0.count) }
        for count in 1...3 { document.update { $0.count = count } }
        #expect(await eventually { list.counts == [0, 1, 2, 3] && local.counts == [0, 1, 2, 3] })
        #expect(await eventually { await ledger.counts == [0, 1, 2, 3] })
        #expect(await eventually { slow.counts == [0, 1, 2, 3] })
        #expect(await eventually { plain.log.values == [0, 1, 2, 3] && closure.values == [0, 1, 2, 3] })
        #expect(await eventually { queued.values == [0, 1, 2, 3] })
        #expect(polled.values.isEmpty)
        target.drain()
        #expect(polled.values == [0, 1, 2, 3])
    }
    @Test("a key names one view, whatever its type; another view with it replaces the first", arguments: places.indices)
    func keys(_ place: Int) async {
        enum Pane: Hashable { case left, right }
        let document = LocalDocument(0, delivery: Self.places[place]())
        let (old, new, other) = (Log<Int>(), Log<Int>(), Log<Int>())
        document.addView(key: Pane.left) { old.add($0) }
        document.addView(key: "left") { other.add($0) }
        #expect(await eventually { old.count == 1 && other.count == 1 })
        document.addView(key: Pane.left) { new.add($0) }
        document.set(1)
        #expect(await eventually { new.count == 2 && other.count == 2 })
        document.removeView(key: Pane.right)
        document.removeView(key: Pane.left)
        document.set(2)
        #expect(await eventually { other.count == 3 })
        document.removeAllViews()
        document.set(3)
        let fence = Log<Int>()
        document.addView(key: "fence") { fence.add($0) }
        #expect(await eventually { fence.values == [3] })
        #expect(old.values == [0] && new.values == [0, 1] && other.values == [0, 1, 2])
    }

    // MARK: Within a notification

    @Test("a view removed within a notification gets no later call: itself, one before it and one behind it")
    func removedInside() {
        let document = LocalDocument(0, delivery: .immediate)
        let log = Log<String>()
        document.addView(key: "before") { log.add("before \($0)") }
        document.addView(key: "remover") { state in
            log.add("remover \(state)")
            if state == 1 { for key in ["before", "behind", "remover"] { document.removeView(key: key) } }
        }
        document.addView(key: "behind") { log.add("behind \($0)") }
        document.set(1)
        document.set(2)
        #expect(log.values == ["before 0", "remover 0", "behind 0", "before 1", "remover 1"])
        document.removeAllViews()
    }
    @Test("a state set within a notification reaches every view after the present one, and nothing is nested")
    func setInside() {
        let document = LocalDocument(0, delivery: .immediate)
        let (log, depth) = (Log<String>(), Holder<Int>())
        for name in ["a", "b"] {
            document.addView(key: name) { state in
                #expect(depth.value == nil)
                depth.hold(1)
                log.add("\(name)\(state)")
                if state == 1 { document.set(2) }
                if state == 2 { document.set(3) }
                depth.hold(nil)
            }
        }
        document.set(1)
        #expect(log.values == ["a0", "b0", "a1", "b1", "a2", "b2", "a3", "b3"])
    }
    @Test("a view that sets the state at each call does not exhaust the stack")
    func deep() {
        let document = LocalDocument(0, delivery: .immediate)
        let last = Holder<Int>()
        document.addView(key: "counter") { state in
            last.hold(state)
            if state < 100_000 { document.set(state + 1) }
        }
        #expect(document.state == 100_000 && last.value == 100_000)
    }
    @Test("a view added within a notification is called with the present state once, then with each change")
    func addedInside() {
        let document = LocalDocument(0, delivery: .immediate)
        let log = Log<String>()
        document.addView(key: "adder") { state in
            log.add("adder \(state)")
            if state == 1 { document.addView(key: "early") { log.add("early \($0)") } }
            if state == 1 { document.set(2) }
            if state == 1 { document.addView(key: "late") { log.add("late \($0)") } }
        }
        document.addView(key: "other") { log.add("other \($0)") }
        document.set(1)
        document.set(3)
        #expect(
            log.values == [
                "adder 0", "other 0", "adder 1", "other 1", "early 1", "adder 2", "other 2", "early 2", "late 2",
                "adder 3", "other 3", "early 3", "late 3",
            ])
    }
    @Test("views on the main actor get no call after they were removed there, whoever sets meanwhile")
    @MainActor func removedOnActor() async {
        let document = LocalDocument(0)
        let setting = Task.detached {
            while !Task.isCancelled {
                for _ in 0..<100 { document.update { $0 += 1 } }
                // It would keep one of the pool's few threads from all other tests.
                await Task.yield()
            }
        }
        for round in 0..<TestForm.rounds(50, soak: 200) {
            let (removed, calls) = (Holder<Int>(), Log<Int>())
            document.addView(key: round) { _ in
                #expect(removed.value == nil)
                calls.add(round)
            }
            #expect(await eventually { calls.count > 0 })
            document.removeView(key: round)
            removed.hold(round)
            await Task.yield()
        }
        setting.cancel()
        await setting.value
    }

    // MARK: Threads

    @Test("changes by several threads: none is lost, and every view ascends to the last", arguments: places.indices)
    func storm(_ place: Int) async {
        let document = LocalDocument(0, delivery: Self.places[place]())
        let log = Log<Int>()
        document.addView(key: "log") { log.add($0) }
        await withTaskGroup { group in
            for thread in 0..<4 {
                group.addTask {
                    for round in 0..<300 {
                        document.update { $0 += 1 }
                        document.addView(key: thread) { _ in }
                        if round % 3 == 0 { document.removeView(key: thread) }
                    }
                }
            }
        }
        #expect(document.state == 1_200)
        #expect(await eventually { log.values.last == 1_200 })
        #expect(log.values == log.values.sorted() && Set(log.values).count == log.count)
    }
    @Test("a view that is far behind gets the newest states, and the latest one last")
    func behind() async {
        let document = LocalDocument(0)
        let (log, gate) = (Log<Int>(), DispatchSemaphore(value: 0))
        document.addView(key: "slow", delivery: .queue(DispatchQueue(label: "slow"))) {
            log.add($0)
            if $0 == 0 { gate.wait() }
        }
        #expect(await eventually { log.count == 1 })
        for state in 1...1_000 { document.set(state) }
        gate.signal()
        #expect(await eventually { log.values.last == 1_000 })
        #expect(log.values.suffix(64) == Array(937...1_000)[...] && log.count == 65)
        #expect(log.values == log.values.sorted())
    }
    @Test("no lock is held while a change or a comparison runs: both may use the document")
    func noLock() {
        let holder = Holder<LocalDocument<Nosy>>()
        let document = LocalDocument(Nosy(number: 0, holder: holder), delivery: .immediate)
        holder.hold(document)
        var isFirst = true
        document.update { state in
            if isFirst {
                isFirst = false
                document.set(Nosy(number: 10, holder: holder))
            }
            state.number += 1
        }
        #expect(document.state.number == 11)
        document.removeAllViews()
        holder.hold(nil)
    }
    private struct Nosy: Equatable, Sendable {
        var number: Int
        let holder: Holder<LocalDocument<Nosy>>
        static func == (a: Self, b: Self) -> Bool {
            a.holder.value?.addView(key: "nosy") { _ in }
            return a.number == b.number
        }
    }
    @Test("a change that throws changes nothing")
    func throwing() {
        struct Refused: Error {}
        let document = LocalDocument(0)
        #expect(throws: Refused.self) {
            try document.update { state in
                state = 1
                throw Refused()
            }
        }
        #expect(
            document.state == 0
                && document.update {
                    $0 += 2; return "two"
                } == "two" && document.state == 2)
    }

    // MARK: Lives

    @Test("an object is held weakly, and nothing is left of it")
    func weakly() async {
        let document = LocalDocument(Inventory())
        let ended = Log<Int>()
        do {
            let ledger = Ledger { ended.add(1) }
            await ledger.add(to: document)
            #expect(await eventually { await ledger.counts == [0] })
        }
        #expect(await eventually { ended.count == 1 })
        document.update { $0.count = 1 }
        #expect(await eventually { document.viewCount == 0 && document.isIdle })
        // Also where the state never changes.
        for number in 0..<200 { document.addView(Plain(), key: number, delivery: .background) }
        #expect(document.viewCount < 100)
    }
    @Test("a document that is released ends its views, after what they hold, and releases them")
    func released() async {
        let (log, ended) = (Log<Int>(), Log<Int>())
        do {
            let document = LocalDocument(0)
            let ledger = Ledger { ended.add(1) }
            document.addView(key: "log") { [ledger] in
                log.add($0)
                withExtendedLifetime(ledger) {}
            }
            for state in 1...10 { document.set(state) }
        }
        #expect(await eventually { log.values == Array(0...10) && ended.count == 1 })
    }
}

extension Ledger {
    fileprivate func add(to document: LocalDocument<Inventory>) { document.addView(self, key: "ledger") }
}
