import RelayCore
import Requests

/// In place of a server: 100,000 answered requests a second, of which each hundredth took a hundred times as long.
@main struct RequestService: RelayProgram {
    static func run() async throws {
        let service = try EventService(name: "org.example.Requests", exporting: Requests1.self)
        try await service.run(alongside: {
            let clock = ContinuousClock()
            var next = clock.now
            while true {
                for number in 0..<1_000 as Range<UInt32> {
                    let time = UInt32.random(in: 100...200) * (number % 100 == 0 ? 100 : 1)
                    try service.publish(RequestAnswered(microseconds: time, status: 200))
                }
                next += .milliseconds(10)
                try await clock.sleep(until: next)
            }
        })
    }
}
