import Foundation
import RelayEvents
import RelayFoundation
import Testing

@Suite("Foundation's values and Relay's") struct BridgingTests {
    @Test("a time comes back to the microsecond, today and for the next century")
    func roundTrip() {
        for start: UInt64 in [
            0, 1, 999_999, 1_000_000, 978_307_199_999_999, 1_795_339_800_000_000, 4_000_000_000_000_000,
        ] {
            for step in 0..<1_000 as Range<UInt64> {
                let time = Timestamp(microseconds: start + step * 7)
                #expect(Timestamp(Date(time)) == time)
            }
        }
    }
    @Test("a known date is a known time") func known() {
        #expect(Date(Timestamp(microseconds: 0)) == Date(timeIntervalSince1970: 0))
        #expect(Timestamp(Date(timeIntervalSince1970: 86_400.5)) == Timestamp(microseconds: 86_400_500_000))
        let time = Timestamp(microseconds: 1_795_339_800_123_456)
        #expect(Date(time).formatted(.iso8601) == "2026-11-22T09:30:00Z" && "\(time)" == "2026-11-22T09:30:00.123456Z")
    }
    @Test(
        "a date that is no time since 1970 is nil, not a trap",
        // In seconds: some of these dates trap when they are described.
        arguments: [-62_135_769_600, -0.000_001, .nan, .infinity, -.infinity, 1e300, 2e13])
    func outside(seconds: Double) { #expect(Timestamp(Date(timeIntervalSince1970: seconds)) == nil) }
    @Test("the latest time has a date") func latest() {
        #expect(Date(Timestamp(microseconds: .max)).timeIntervalSince1970 > 1.8e13)
    }
    @Test("an error's localized description is its message") func message() {
        let error: any Error = RelayError(.storageFull, "the disk is full: make room")
        #expect(error.localizedDescription == "the disk is full: make room")
    }
}
