import TestTraits
import Testing

@testable import RelayCore

@Suite("The choice of the transport", .tags(.g2)) struct TransportChoiceTests {
    /// A relay that does what the transport says, and what its bus and its owner know of that.
    private struct World: Hashable {
        enum Input: CaseIterable {
            case attach, opened, refused, unreadable, retry, faulted, withdrawn, timeout, gone, unwanted
            /// The owner gave it, and its answer was lost; or no longer counts when it comes.
            case lost, withdrawnLater, unwantedLater
        }
        var transport = TransportChoice()
        var hasOwner = true
        var hasRules = true
        var hasInlet = false
        var isAsked = false
        /// The owner takes it that the relay has the inlet, and may send no signals.
        var isGiven = false
        /// Somebody waits for its `Attach`; how many were sent, and how many of them while signals came.
        var isWaiting = false
        var isAttached = false
        var faults: [String] = []

        /// False where the input cannot come.
        mutating func apply(_ input: Input) -> Bool {
            switch input {
            case .attach:
                if !hasOwner { return false }
                isWaiting = true
                run(transport.attachWanted())
            case .opened, .refused, .unreadable, .timeout, .lost:
                if !isAsked { return false }
                isAsked = false
                isGiven = [.opened, .unreadable, .lost].contains(input)
                // As it comes with the answer, before anything is told.
                if input == .opened { hasInlet = true }
                switch input {
                case .opened: run(transport.opened())
                case .refused: run(transport.refused())
                default:
                    // Without a signal since the answer: whoever was attached no longer knows where the stream is.
                    if isGiven { isAttached = false }
                    let mustAsk = transport.phase == .signals
                    run(input == .unreadable ? transport.unreadable() : transport.unanswered())
                    if mustAsk && !isAttached { faults.append("does not know what it missed") }
                }
            case .retry: run(transport.retry())
            case .faulted:
                if !hasInlet { return false }
                isAttached = false
                run(transport.faulted())
            case .withdrawn, .withdrawnLater:
                // An answer under way no longer counts, and nobody is attached.
                if input == .withdrawnLater && !isAsked { return false }
                (isAsked, isAttached, isGiven) = (false, false, input == .withdrawnLater)
                let wasAttached = transport.phase == .direct || transport.phase == .signals
                run(transport.withdrawn())
                if wasAttached && !isAttached { faults.append("does not attach again") }
            case .gone, .unwanted, .unwantedLater:
                if input == .gone { hasOwner.toggle() }
                if input == .unwantedLater && !isAsked { return false }
                if input != .unwanted { isGiven = input == .unwantedLater }
                (isAsked, isWaiting, isAttached) = (false, false, false)
                run(transport.ended())
            }
            check()
            return true
        }
        private mutating func run(_ actions: [TransportChoice.Action]) {
            for action in actions {
                switch action {
                case .open:
                    if isAsked || hasInlet || isGiven { faults.append("asked twice") }
                    isAsked = true
                case .close: (hasInlet, isGiven) = (false, false)
                case .updateRules: hasRules = transport.takesSignals
                case .attach, .attachAll, .reattachAll:
                    if action == .attach && !isWaiting { faults.append("nobody waits") }
                    if !hasInlet && !hasRules { faults.append("attached to nothing") }
                    if hasInlet && hasRules { faults.append("attached to both") }
                    if !hasOwner { faults.append("attached to nobody") }
                    (isWaiting, isAttached) = (false, true)
                }
            }
        }
        private mutating func check() {
            if transport.takesSignals == hasInlet { faults.append("signals count beside the inlet, or nothing does") }
            if hasRules != transport.takesSignals { faults.append("rules are not what counts") }
            if hasInlet && !hasOwner { faults.append("an inlet of nobody") }
            if isGiven != hasInlet { faults.append("the owner takes it that it has what it has not") }
            if isWaiting && transport.phase != .opening { faults.append("waits for nothing") }
            let asks = transport.phase == .opening || transport.isRetrying
            if asks != isAsked { faults.append("asks, and does not") }
            if transport.isRetrying && transport.phase != .signals { faults.append("retries without signals") }
        }
    }

    @Test("nothing is attached before it is known how events come, and rules are there or an inlet, never both")
    func all() {
        var seen: Set<World> = [World()]
        var level = [World()]
        while !level.isEmpty {
            var next: [World] = []
            for world in level {
                for input in World.Input.allCases {
                    var world = world
                    guard world.apply(input) else { continue }
                    #expect(world.faults == [], "\(input)")
                    if world.faults.isEmpty && seen.insert(world).inserted { next.append(world) }
                }
            }
            level = next
        }
        let phases = Set(seen.map(\.transport.phase))
        #expect(phases == [.unknown, .opening, .direct, .signals])
        #expect(seen.count > 4 && seen.contains { $0.transport.isRetrying })
    }
    @Test("what comes too late changes nothing") func late() {
        var transport = TransportChoice()
        #expect(transport.opened() == [] && transport.refused() == [] && transport.faulted() == [])
        #expect(transport.unanswered() == [] && transport.ended() == [] && transport.phase == .unknown)
        #expect(transport.attachWanted() == [.open])
        #expect(transport.attachWanted() == [], "one question is enough")
        #expect(transport.unanswered() == [.close, .open])
        #expect(transport.opened() == [.updateRules, .attach])
        #expect(transport.opened() == [] && transport.refused() == [])
        #expect(transport.attachWanted() == [.attach])
        #expect(transport.faulted() == [.close, .updateRules, .reattachAll])
        #expect(transport.faulted() == [] && transport.takesSignals)
        #expect(transport.retry() == [.open])
        #expect(transport.retry() == [], "one question is enough")
        #expect(transport.refused() == [] && transport.opened() == [])
        #expect(transport.retry() == [.open])
        #expect(transport.unanswered() == [.close, .attachAll], "it goes on with signals, and asks later")
        #expect(transport.unanswered() == [] && transport.unreadable() == [])
        #expect(transport.retry() == [.open])
        #expect(transport.unreadable() == [.close, .attachAll])
        #expect(transport.retry() == [.open])
        #expect(transport.opened() == [.updateRules, .attachAll] && transport.phase == .direct)
        #expect(transport.retry() == [])
    }
    @Test("what the owner ends is asked for again, and everybody attaches, also who reads") func withdrawn() {
        var transport = TransportChoice()
        #expect(transport.withdrawn() == [])
        #expect(transport.attachWanted() == [.open])
        #expect(transport.withdrawn() == [.close, .open], "nobody was attached")
        #expect(transport.opened() == [.updateRules, .attach])
        #expect(transport.withdrawn() == [.close, .updateRules, .reattachAll, .open])
        #expect(transport.takesSignals && transport.isRetrying)
        #expect(transport.withdrawn() == [.close, .open, .reattachAll], "the answer under way is of the inlet before")
        #expect(transport.refused() == [])
        #expect(transport.withdrawn() == [.reattachAll])
    }
}
