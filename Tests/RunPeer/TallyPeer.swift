import RelayCore
import RelayJournal
import TestSupport

/// The service of `Tally1`: `tally --bus ADDRESS --state-directory FOLDER --edits N` counts up N times itself, over all of
/// its runs, and is there for others until it is killed.
struct TallyPeer {
    let bus: Bus
    let folder: String
    let edits: Int64

    func run() async throws {
        let journal = try EventJournal(directory: folder)
        let service = try EventService(name: Tally1.service, on: bus, exporting: Tally1.self, journal: journal)
        let document = try service.document(Tally1.Tally.self)
        let (ready, isReady) = AsyncStream.makeStream(of: Void.self)
        let edits = edits
        let editing = Task.detached {
            for await _ in ready {}
            while document.state.counts["service", default: 0] < edits {
                try await document.update { $0.count("service") }
                // The others have their turns.
                try await Task.sleep(for: .milliseconds(1))
            }
            RunPeer.say("edited")
        }
        try await service.run {
            RunPeer.say("ready")
            isReady.finish()
        }
        editing.cancel()
    }
}
