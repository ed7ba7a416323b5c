import PrintQueue
import RelayCore
import RelayJournal

/// The queue, on the system bus: `print-queue-service FOLDER`.
@main struct PrintQueueService: RelayProgram {
    static func run() async throws {
        guard CommandLine.arguments.count == 2 else {
            throw RelayError(.invalidArgument, "usage: print-queue-service FOLDER, where the jobs are kept")
        }
        let journal = try EventJournal(directory: CommandLine.arguments[1])
        defer { journal.close() }
        let jobs: SQL = "CREATE TABLE jobs (jobID INTEGER PRIMARY KEY, title TEXT NOT NULL, pages INTEGER NOT NULL)"
        try await journal.migrate("print-queue", by: [Migration("jobs", jobs)])
        let service = try EventService(
            name: "org.example.PrintQueue", on: .system, exporting: PrintQueue1.self, journal: journal)
        service.handle(AddJob.self) { command, _, unit in
            guard command.pages <= 100 else { throw AddJob.Refusal.tooLong }
            let insert: SQL = "INSERT INTO jobs (title, pages) VALUES (\(command.title), \(command.pages)) RETURNING *"
            let job = try unit.query(insert, as: Job.self)[0]
            try unit.publish(JobAdded(job: job))
            return AddJob.Reply(jobID: job.jobID)
        }
        service.handle(ListJobs.self) { _, _ in
            ListJobs.Reply(jobs: try await journal.read { try $0.query("SELECT * FROM jobs ORDER BY jobID") })
        }
        // Runs only if polkit has permitted it: the contract says so.
        service.handle(EmptyQueue.self) { _, _, unit in
            let jobs = try unit.execute("DELETE FROM jobs")
            if jobs == 0 { throw EmptyQueue.Refusal.isEmpty }
            try unit.publish(QueueEmptied(jobs: Int64(jobs)))
        }
        try await service.run()
    }
}
