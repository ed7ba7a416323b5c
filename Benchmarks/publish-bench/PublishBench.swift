import Dispatch
import Foundation
import RelayCore

/// What publishing costs within a process, with NotificationCenter (a user-info dictionary, as its users have) in the same run.
///
/// Every row is measured once a round, and the rounds are interleaved, so that a change of the machine's pace meets all rows.
@main struct PublishBench {
    static let rounds = 9

    static func main() async {
        var rows = immediateRows() + [enumRow(), streamRow(), queueRow()]
        rows += [1, 64].map(notificationRow)
        var times = [[Double]](repeating: [], count: rows.count + 1)
        for _ in 0..<rounds {
            for (index, row) in rows.enumerated() { times[index].append(row.measure()) }
            times[rows.count].append(await actorTime())
        }
        let medians = times.map { $0.sorted()[$0.count / 2] }
        let spreads = times.map { "\(Self.text($0.min()!)) … \(Self.text($0.max()!))" }
        print(Self.line("median of \(rounds) interleaved rounds", "ns", "ns each", "min … max"))
        for (index, row) in rows.enumerated() {
            let each = medians[index] / Double(max(1, row.subscribers))
            print(Self.line(row.name, Self.text(medians[index]), Self.text(each), spreads[index]))
        }
        print(
            Self.line(
                "publish to an actor and through its handler", Self.text(medians[rows.count]),
                Self.text(medians[rows.count]), spreads[rows.count]))
        print()
        var isMissed = false
        for subscribers in [1, 64] {
            let ours = medians[rows.firstIndex { $0.kind == .ours && $0.subscribers == subscribers }!]
            let theirs = medians[rows.firstIndex { $0.kind == .notificationCenter && $0.subscribers == subscribers }!]
            let limit = subscribers == 1 ? 60.0 : 20.0 * Double(subscribers)
            if ours > limit { isMissed = true }
            let verdict = ours <= limit ? "within" : "OVER"
            let ratio = String(format: "%.1f", theirs / ours)
            print(
                "\(subscribers) subscriber(s): NotificationCenter takes \(ratio) times as long; "
                    + "\(Self.text(ours)) ns is \(verdict) the goal of \(Self.text(limit)) ns")
        }
        if total == 0 { print("nothing was delivered") }
        // A goal that is missed, or a measurement of nothing, is a failure.
        if isMissed || total == 0 { exit(1) }
    }

    static func text(_ value: Double) -> String { String(format: "%.1f", value) }
    static func line(_ name: String, _ columns: String...) -> String {
        func left(_ text: String, _ width: Int) -> String {
            String(repeating: " ", count: max(0, width - text.count)) + text
        }
        return name.padding(toLength: 54, withPad: " ", startingAt: 0)
            + left(columns[0], 10) + left(columns[1], 10) + left(columns[2], 22)
    }

    // MARK: Rows. Each body is a plain loop, as in the code of a user.

    static func immediateRows() -> [Row] {
        [0, 1, 64].map { subscribers in
            let publisher = EventPublisher(delivery: .immediate)
            let all = (0..<subscribers).map { _ in
                publisher.subscribe(to: Tick.self, delivery: .immediate) {
                    total &+= $0.number
                } onGap: { _ in
                }
            }
            let event = Tick(number: 1)
            let name = "publish, immediate, \(subscribers) subscriber(s)"
            return Row(name, .ours, subscribers, subscribers > 1 ? 20_000 : 500_000) { count in
                for _ in 0..<count { publisher.publish(event) }
                withExtendedLifetime(all) {}
            }
        }
    }
    static func enumRow() -> Row {
        let publisher = EventPublisher(delivery: .immediate)
        let one = publisher.subscribe(to: WindowEvent.self, delivery: .immediate) {
            if case .changed(_, let number) = $0 { total &+= Int64(number) }
        } onGap: { _ in
        }
        let changed = WindowEvent.changed("a name longer than fifteen bytes", 1)
        return Row("publish, immediate, 1 subscriber, enum with a String", .other, 1, 500_000) { count in
            for _ in 0..<count { publisher.publish(changed) }
            withExtendedLifetime(one) {}
        }
    }
    static func streamRow() -> Row {
        let publisher = EventPublisher()
        let stream = publisher.events(of: Tick.self)
        let event = Tick(number: 1)
        return Row("publish to a stream that overflows (stamp, clock)", .other, 1, 100_000) { count in
            for _ in 0..<count { publisher.publish(event) }
            withExtendedLifetime(stream) {}
        }
    }
    static func queueRow() -> Row {
        let publisher = EventPublisher()
        let queue = DispatchQueue(label: "suspended")
        queue.suspend()
        let subscription = publisher.subscribe(to: Tick.self, delivery: .queue(queue)) { _ in
        } onGap: { _ in
        }
        let event = Tick(number: 1)
        return Row("publish to a queue that overflows", .other, 1, 100_000) { count in
            for _ in 0..<count { publisher.publish(event) }
            withExtendedLifetime(subscription) {}
        }
    }
    static func notificationRow(_ observers: Int) -> Row {
        let center = NotificationCenter()
        let name = Notification.Name("tick")
        let tokens = (0..<observers).map { _ in
            center.addObserver(forName: name, object: nil, queue: nil) {
                total &+= ($0.userInfo?["number"] as? Int64) ?? 0
            }
        }
        let title = "NotificationCenter, userInfo, \(observers) observer(s)"
        return Row(title, .notificationCenter, observers, observers > 1 ? 2_000 : 50_000) { count in
            for _ in 0..<count { center.post(name: name, object: nil, userInfo: ["number": Int64(1)]) }
            withExtendedLifetime(tokens) {}
        }
    }
    static func actorTime() async -> Double {
        let count = 100_000
        let publisher = EventPublisher()
        let sink = Sink()
        let subscription = await sink.follow(publisher, count)
        let event = Tick(number: 1)
        let start = ContinuousClock.now
        for _ in 0..<count { publisher.publish(event) }
        await sink.wait(for: count)
        let time = ContinuousClock.now - start
        subscription.cancel()
        return Row.nanoseconds(time) / Double(count)
    }
}

/// Written by handlers on the one thread that publishes.
nonisolated(unsafe) var total: Int64 = 0

struct Tick: Event { var number: Int64 }
enum WindowEvent: Event { case changed(String, Int), closed }
