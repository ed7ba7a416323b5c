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
        service.handle(PrintJob.self) { job, _, unit in
            guard job.pages <= 100 else { throw PrintJob.Refusal.tooLong }
            let insert: SQL = "INSERT INTO jobs (title) VALUES (\(job.title)) RETURNING id"
            let jobID = try unit.query(insert, as: Int64.self)[0]
            try unit.publish(JobPrinted(jobID: jobID, title: job.title, pages: job.pages))
            return PrintJob.Reply(jobID: jobID)
        }
        // Until SIGTERM or Ctrl-C, which RelayProgram catches; then it finishes what runs, and exits with 0.
        try await service.run()
    }
}
