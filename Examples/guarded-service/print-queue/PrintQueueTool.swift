import PrintQueue
import RelayCore

/// The queue at a terminal: `print-queue add TITLE PAGES`, `list`, `empty` or `watch`.
@main struct PrintQueueTool: RelayProgram {
    static func run() async throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        let relay = try EventRelay(following: "org.example.PrintQueue", on: .system, interfaces: PrintQueue1.self)
        relay.activate()
        switch (arguments.first, arguments.count) {
        case ("add", 3):
            let job = try await relay.call(AddJob(title: arguments[1], pages: Int32(arguments[2]) ?? 1))
            print("is job \(job.jobID)")
        case ("list", 1):
            for job in try await relay.call(ListJobs()).jobs {
                print("#\(job.jobID) \(job.title), \(job.pages) pages")
            }
        case ("empty", 1):
            do {
                try await relay.call(EmptyQueue())
            } catch EmptyQueue.Refusal.isEmpty {
                print("there is nothing in it")
            } catch .notPermitted {
                print("only an operator may do that")
            }
        case ("watch", 1):
            let watch = try relay.subscribe(to: PrintQueue1.self, from: .resuming("watch")) { event in
                switch event {
                case .added(let added): print("added \(added.job.title)")
                case .emptied(let emptied): print("emptied of \(emptied.jobs) jobs")
                }
            } onGap: {
                print($0)
            }
            try await relay.run(keeping: watch)
        default: throw RelayError(.invalidArgument, "usage: print-queue add TITLE PAGES, list, empty or watch")
        }
    }
}
