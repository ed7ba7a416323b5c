public import RelayCore
public import RelayJournal
import TrackFile
import Tracks

/// Makes the service's objects, each from those before it.
public struct TrackServiceFactory: Sendable {
    public static let serviceName = "org.example.Tracks"
    private let journal: EventJournal
    private let bus: Bus

    public init(journal: EventJournal, bus: Bus = .session) { (self.journal, self.bus) = (journal, bus) }

    public func makeService() async throws -> EventService {
        let journal = journal
        try await journal.migrate("tracks", by: [TrackTable.migration])
        let interactor = TrackInteractor()
        let service = try EventService(
            name: Self.serviceName, on: bus, exporting: Tracks1.self, journal: journal)
        service.handle(ImportTrack.self) { command, _ in
            // Read before the transaction: others commit meanwhile.
            let track = try Self.track(in: command.gpx)
            let trackID = try await journal.unitOfWork { unit in try interactor.add(track, in: &unit) }
            return ImportTrack.Reply(trackID: trackID)
        }
        service.handle(RenameTrack.self) { command, _, unit in
            try interactor.rename(command, in: &unit)
        }
        service.handle(ListTracks.self) { _, _ in
            // Tracks and position are read in one transaction: later events apply on top.
            try await journal.read { snapshot in
                let position = try snapshot.position(of: Tracks1.self)
                return ListTracks.Reply(
                    epoch: position.epoch, sequence: position.sequence, tracks: try TrackTable.all(&snapshot))
            }
        }
        return service
    }
    private static func track(in gpx: [UInt8]) throws(ImportTrack.Refusal) -> Track {
        do throws(GPXFault) { return try GPX.parse(gpx) } catch { throw .notATrack(error.description) }
    }
}
