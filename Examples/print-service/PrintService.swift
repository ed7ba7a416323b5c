import Printing
import RelayCore

actor Printer {
    private var jobs: Int64 = 0
    func print(_ job: PrintJob, tellingOf service: EventService) throws -> Int64 {
        guard job.pages <= 100 else { throw PrintJob.Failure.tooLong }
        jobs += 1
        try service.publish(JobPrinted(jobID: jobs, title: job.title, pages: job.pages))
        return jobs
    }
}

@main struct PrintService {
    static func main() async throws {
        let service = try EventService(name: "org.example.Printer", exporting: Printing1.self)
        let printer = Printer()
        service.handle(PrintJob.self) { [unowned service] job, _ in
            PrintJob.Reply(jobID: try await printer.print(job, tellingOf: service))
        }
        try await service.run()
    }
}
