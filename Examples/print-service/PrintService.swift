import Printing
import RelayCore
import RelayJournal

@main struct PrintService {
    static func main() async throws {
        let journal = try EventJournal(directory: CommandLine.arguments[1])
        try await journal.unitOfWork { unit in
            try unit.execute("CREATE TABLE IF NOT EXISTS jobs (id INTEGER PRIMARY KEY, title TEXT NOT NULL)")
        }
        let service = try EventService(name: "org.example.Printer", exporting: Printing1.self, journal: journal)
        service.handle(PrintJob.self) { job, _ in
            guard job.pages <= 100 else { throw PrintJob.Failure.tooLong }
            // The job and its event are committed together: nothing is visible before, nothing is lost after.
            let jobID = try await journal.unitOfWork { unit in
                let insert = "INSERT INTO jobs (title) VALUES (?) RETURNING id"
                let jobID = try unit.query(insert, [.text(job.title)]) { $0.integer(0) }[0]
                try unit.publish(JobPrinted(jobID: jobID, title: job.title, pages: job.pages))
                return jobID
            }
            return PrintJob.Reply(jobID: jobID)
        }
        try await service.run()
    }
}
