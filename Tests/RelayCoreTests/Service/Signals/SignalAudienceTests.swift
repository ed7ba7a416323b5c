import TestTraits
import Testing

@testable import RelayCore

@Suite("To whom signals go, as a value", .tags(.g2)) struct SignalAudienceTests {
    @Test("a peer gets events as signals if it attached, and the ring does not serve it", arguments: [false, true])
    func listeners(_ isEveryone: Bool) {
        var audience = SignalAudience(isEveryone: isEveryone)
        #expect(audience.listeners.isEmpty && !audience.isServedElsewhere)
        audience.attach("a")
        audience.handOver("b")
        audience.attach("b")
        #expect(audience.listeners == ["a"] && !audience.isServedElsewhere)
        audience.handOver("a")
        #expect(audience.listeners.isEmpty && audience.isServedElsewhere)
        #expect(audience.isElsewhere("a"))
        audience.takeBack("b")
        #expect(audience.listeners == ["b"] && !audience.isServedElsewhere)
        audience.takeBack("b")
        audience.depart("b")
        #expect(audience.listeners.isEmpty && audience.isServedElsewhere)
        audience.depart("a")
        audience.takeBack("a")
        #expect(audience.listeners.isEmpty && !audience.isServedElsewhere)
    }
    @Test("nobody is known to be served elsewhere where nobody reads a ring: plain clients count") func plain() {
        #expect(!SignalAudience(isEveryone: true).isServedElsewhere)
    }
    @Test("a broadcast goes to all at once; else each that attached gets a signal of its own") func destinations() {
        var audience = SignalAudience()
        audience.handOver("b")
        for peer in ["a", "b"] { audience.attach(peer) }
        #expect(audience.count == 1 && audience.destinations == ["a"])
        #expect(Set(audience.allDestinations) == ["a", "b"])
        var open = audience.reaching(everyone: true)
        #expect(open.count == 1 && open.destinations == [nil] && open.allDestinations == [nil])
        #expect(open.listeners.isEmpty, "of a former bus")
        open.attach("b")
        #expect(open.listeners.isEmpty, "the ring still serves it")
    }
}
