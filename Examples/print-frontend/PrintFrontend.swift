import Printing
import RelayCore

@main @MainActor struct PrintFrontend: RelayProgram {
    static func run() async throws {
        let relay = try EventRelay(following: "org.example.Printer", interfaces: Printing1.self)
        // Goes on where the ledger stopped, even if either side was killed. The subscription ends when it is released.
        let ledger = try relay.subscribe(to: JobPrinted.self, from: .resuming("ledger")) { event in
            print("printed #\(event.jobID): \(event.title), \(event.pages) pages")
        } onGap: { gap in
            print(gap)  // What is missing and why, as a sentence.
        }
        relay.activate()
        try await relay.ready(within: .seconds(5))  // The service may still be starting.
        for job in [PrintJob(title: "Invitation", pages: 2), PrintJob(title: "Encyclopedia", pages: 9_000)] {
            switch await relay.outcome(of: job) {
            case .success(let reply): print("is job \(reply.jobID)")
            case .refused(.tooLong): print("too long")
            case .failed(let error): print(error.message)  // No service, no answer in time, …
            }
        }
        // Until SIGTERM or Ctrl-C. It throws if no retry would help, and the exit code says so.
        try await relay.run(keeping: ledger)
    }
}
