import TransportReport
import Testing

@Suite("Bench statistics")
struct StatisticsTests {
    @Test("a percentile is the least value that is not below its part")
    func percentiles() {
        let values = Array(UInt64(1)...1_000)
        #expect(Statistics.percentile(0.5, of: values) == 500)
        #expect(Statistics.percentile(0.99, of: values) == 990)
        #expect(Statistics.percentile(0.999, of: values) == 999)
        #expect(Statistics.percentile(1, of: values) == 1_000)
        #expect(Statistics.percentile(0, of: values) == 1)
        #expect(Statistics.percentile(0.999, of: [7]) == 7)
        #expect(Statistics.percentile(0.5, of: []) == nil)
    }
    @Test("a median of an even number is between the middle two")
    func medians() {
        #expect(Statistics.median([3, 1, 2]) == 2)
        #expect(Statistics.median([4, 1, 2, 3]) == 2.5)
        #expect(Statistics.median([]) == nil)
    }
    @Test("what never came is infinitely late: a percentile is of what was sent")
    func lateness() {
        #expect(Statistics.lateness(0.5, of: [30, 0, 10, 20]) == 20)
        #expect(Statistics.lateness(0.75, of: [30, 0, 10, 20]) == 30)
        #expect(Statistics.lateness(0.99, of: [30, 0, 10, 20]) == .infinity)
        #expect(Statistics.lateness(0.5, of: []) == nil)
        // One of a thousand is missing: the p99.9 is the worst that came, and one more moves it.
        let times = (UInt64(1)...1_000).map { $0 == 500 ? 0 : $0 }
        #expect(Statistics.lateness(0.999, of: times) == 1_000)
        #expect(Statistics.lateness(0.999, of: [0] + times.dropFirst()) == .infinity)
    }
    @Test("times are of the events that were sent, and are nanoseconds")
    func paced() {
        let receivers = [
            Sample.Receiver(received: 3, cpu: 2_000, firstAt: 0, lastAt: 9, latencies: [10, 20, 0, 40]),
            Sample.Receiver(received: 4, cpu: 1_000, firstAt: 0, lastAt: 9, latencies: [15, 25, 35, 5]),
        ]
        let figures = Sample(sent: 4, senderCPU: 4_000, daemonCPU: 700, callers: [7, 9, 8, 100], receivers: receivers)
            .paced
        // Of eight that were to come, one never came.
        #expect(figures[.p50] == 20)
        #expect(figures[.p99] == .infinity)
        #expect(figures[.caller] == 8)
        // The third event did not reach both: when the last had it is 15, 25, 40 and never.
        #expect(figures[.last] == 25)
        #expect(figures[.lost] == 12.5)
        // 7,000 ns for 7 events are 1,000 s for a milliard.
        #expect(figures[.cpu] == 1)
        #expect(figures[.daemonCPU] == 0.1)
    }
    @Test("a rate is of what came, over the longest receiver's time")
    func fast() {
        let receiver = Sample.Receiver(received: 500, cpu: 0, firstAt: 1_000, lastAt: 501_000, latencies: [])
        let figures = Sample(sent: 1_000, senderCPU: 0, daemonCPU: 0, callers: [], receivers: [receiver]).fast
        #expect(figures[.rate] == 1_000_000)
        #expect(figures[.lost] == 50)
        let none = Sample.Receiver(received: 0, cpu: 0, firstAt: 0, lastAt: 0, latencies: [])
        #expect(Sample(sent: 9, senderCPU: 1, daemonCPU: 0, callers: [], receivers: [none]).fast == [.lost: 100])
    }
}
