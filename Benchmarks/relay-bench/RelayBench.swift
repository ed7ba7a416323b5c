import Foundation
import RelayCore
import RelayTestKit

/// What waiting for the next event costs a relay, at each rate; and how long a crowd of relays takes until all are ready.
///
/// Service, relays and bus are processes of their own.
@main enum RelayBench {
    static func main() async throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        switch arguments.first {
        case "serve": try await ServeRole.run(address: arguments[1])
        case "follow": try await FollowRole.run(address: arguments[1], waiting: arguments[2])
        case "crowd":
            try await FollowRole.crowd(
                address: arguments[1], relays: Int(arguments[2])!, within: .seconds(Int(arguments[3])!))
        case "--waits": if try !Waits.measure() { exit(1) }
        case "--crowd":
            let numbers = arguments.dropFirst().compactMap { Int($0) } + Crowd.usual.dropFirst(arguments.count - 1)
            if try !Crowd.measure(processes: numbers[0], relays: numbers[1], rate: numbers[2]) { exit(1) }
        default:
            let results = [
                try Waits.measure(), try Crowd.measure(processes: 100, relays: 10, rate: 0),
                try Crowd.measure(processes: 100, relays: 10, rate: 1_000),
            ]
            if results.contains(false) { exit(1) }
        }
    }
    static func verdict(_ name: String, _ value: Double, atMost goal: Double) -> Bool {
        let text = { (value: Double) in String(format: value < 10 ? "%.2f" : "%.0f", value) }
        print(value <= goal ? "meets " : "MISSED", "\(name): \(text(value)), the goal is at most \(text(goal))")
        return value <= goal
    }
}
