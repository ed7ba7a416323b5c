package import RelayCore

/// A volatile interface for tests, each of whose events follows from its run and its number: what does not was torn, or invented.
package enum Runs1: EventInterface {
    package static let name = "org.eventrelay.test.Runs1"
    package static let service = "org.eventrelay.Service1"
    package static let durability = Volatile()
    /// Small: who is held up for a moment is lapped.
    package static let ringCapacity = 64 << 10
    package static var contract: Contract<Self> {
        Counted.self
        Spelled.self
    }

    /// In the ring as it is.
    package struct Counted: FixedLayoutEvent {
        package typealias Interface = Runs1
        package let run: UInt64
        package let number: UInt64
        package let check: UInt64
        package init(run: UInt64, number: UInt64) {
            (self.run, self.number, check) = (run, number, Runs1.check(run, number))
        }
    }
    /// In the ring in its encoding.
    package struct Spelled: DomainEvent {
        package typealias Interface = Runs1
        package let run: UInt64
        package let text: String
        package init(run: UInt64, number: UInt64) { (self.run, text) = (run, "\(number) \(Runs1.check(run, number))") }
    }
    /// Which one an event is: every third is spelled.
    package static func isSpelled(_ number: UInt64) -> Bool { number % 3 == 0 }
    /// The run of an event with this number; nil for one that was never published.
    package static func run(of event: any StreamEntry, _ number: UInt64) -> UInt64? {
        switch event {
        case let event as Counted where !isSpelled(number):
            event.number == number && event.check == check(event.run, number) ? event.run : nil
        case let event as Spelled where isSpelled(number):
            event.text == "\(number) \(check(event.run, number))" ? event.run : nil
        default: nil
        }
    }
    private static func check(_ run: UInt64, _ number: UInt64) -> UInt64 {
        let mixed = (run ^ number) &* 0x9E37_79B9_7F4A_7C15
        return mixed ^ (mixed >> 29)
    }
}
