import Glibc
import RelayCore
import RelayJournal
import TestSupport

/// The service of `Blocked1`: `blocked --bus ADDRESS --state-directory FOLDER`.
enum BlockedPeer: RelayProgram {
    static func run() async throws {
        let options = ProgramOptions(Array(CommandLine.arguments.dropFirst()))
        let journal = try EventJournal(directory: options.required("state-directory"))
        let service = try EventService(
            name: Blocked1.service, on: .address(options.required("bus")), exporting: Blocked1.self, journal: journal)
        // As a library in C does that waits for a device.
        service.handle(Blocked1.Hold.self) { _, _ in while true { pause() } }
        service.handle(Blocked1.Book.self) { book, _, unit in
            try unit.publish(Blocked1.Booked(number: book.number))
            return NoReply()
        }
        service.handle(Blocked1.Greet.self) { _, _ in }
        try await service.run(patience: .milliseconds(100)) {
            RunPeer.say("ready")
        } onStopping: {
            RunPeer.say("stopping")
        }
        RunPeer.say("ended")
    }
}
