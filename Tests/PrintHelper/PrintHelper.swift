import Glibc
import RelayCore

/// What would be the exported object.
actor Printer {
    private let service: EventService
    private var jobs: Int64 = 0
    init(_ service: EventService) { self.service = service }

    func print(_ job: PrintJob, _ context: CommandContext) async throws -> PrintJob.Reply {
        guard (1...100).contains(job.pages) else { throw PrintJob.Refusal.tooLong }
        for page in 1...job.pages { context.report(.init(page: page), of: job) }
        jobs += 1
        try service.publish(JobPrinted(jobID: jobs, title: job.title))
        try service.document(PrinterState.self).set(PrinterState(jobs: jobs, lastTitle: job.title))
        return PrintJob.Reply(jobID: jobs)
    }
    func preview(_ job: PreviewJob, _ context: CommandContext) async throws {
        let channel = try job.channel.take()
        var text = "preview of \(job.title)"
        text.withUTF8 { _ = write(channel.number, $0.baseAddress, $0.count) }
    }
}

/// The service, wherever the bus is.
func makeService(on bus: Bus = .session) throws -> EventService {
    let service = try EventService(name: "org.example.Printer", on: bus, exporting: Printing1.self)
    let printer = Printer(service)
    service.handle(PrintJob.self, with: printer.print)
    service.handle(PreviewJob.self, with: printer.preview)
    return service
}

@main struct PrintHelper: RelayProgram {
    static func run() async throws {
        try await makeService().run(idleExit: .seconds(30))
    }
}
