import Printing
import RelayCore
import RelayJournal

@main struct PrintService: RelayProgram {
    static func run() async throws {
        guard CommandLine.arguments.count == 2 else {
            throw RelayError(.invalidArgument, "usage: print-service FOLDER, where the jobs and their events are kept")
        }
        let journal = try EventJournal(directory: CommandLine.arguments[1])
        let jobs = Migration("jobs", "CREATE TABLE jobs (id INTEGER PRIMARY KEY, title TEXT NOT NULL)")
        try await journal.migrate("printing", by: [jobs])
        let service = try EventService(name: "org.example.Printer", exporting: Printing1.self, journal: journal)
        // The job and its event are committed together: nothing is visible before, nothing is lost after.
        service.handle(PrintJob.self, in: journal) { job, _, unit in
            guard job.pages <= 100 else { throw PrintJob.Failure.tooLong }
            let insert = "INSERT INTO jobs (title) VALUES (?) RETURNING id"
            let jobID: Int64 = try unit.query(insert, [SQLValue(job.title)]) { row in try row["id"] }[0]
            try unit.publish(JobPrinted(jobID: jobID, title: job.title, pages: job.pages))
            return PrintJob.Reply(jobID: jobID)
        }
        // Until SIGTERM or Ctrl-C, which RelayProgram catches; then it finishes what runs, and exits with 0.
        try await service.run()
    }
}
