public import RelayCore
import Tracks
import TrackViews

/// Turns view events into commands, one at a time, in the order of the events. What cannot be done it publishes as
/// trouble. It knows no view; the window owns it, and releases it.
public final class TrackEventHandler: Sendable {
    private let events: EventStream<TrackViewEvent>

    public init(_ publisher: EventPublisher, commands: any TrackCommands, files: any TrackFiles) {
        let events = publisher.events(of: TrackViewEvent.self)
        self.events = events
        // Holds what it needs, and not the handler: that may be released.
        Task {
            for await delivery in events {
                switch delivery {
                case .event(let event, _):
                    if let trouble = await Self.trouble(with: event, commands, files) { publisher.publish(trouble) }
                case .gap(let gap): publisher.publish(TrackTrouble("\(gap)"))
                }
            }
        }
    }
    deinit { events.cancel() }

    private static func trouble(
        with event: TrackViewEvent, _ commands: any TrackCommands, _ files: any TrackFiles
    ) async -> TrackTrouble? {
        do throws(TrackTrouble) {
            switch event {
            case .fileChosen(let path): try await commands.importTrack(gpx: try files.bytes(of: path))
            case .nameEntered(let trackID, let name): try await commands.renameTrack(trackID, to: name)
            }
            return nil
        } catch { return error }
    }
}

/// What could not be done, for people.
public struct TrackTrouble: Event, Error, Equatable {
    public let text: String
    public init(_ text: String) { self.text = text }
}

/// What a front end asks of the service.
public protocol TrackCommands: Sendable {
    func importTrack(gpx: [UInt8]) async throws(TrackTrouble)
    func renameTrack(_ trackID: Int64, to name: String) async throws(TrackTrouble)
}
extension EventRelay: TrackCommands {
    public func importTrack(gpx: [UInt8]) async throws(TrackTrouble) {
        switch await outcome(of: ImportTrack(gpx: gpx)) {
        case .success: return
        case .refused(let failure): throw TrackTrouble(failure.message)
        case .failed(let error): throw TrackTrouble(error.message)
        }
    }
    public func renameTrack(_ trackID: Int64, to name: String) async throws(TrackTrouble) {
        switch await outcome(of: RenameTrack(trackID: trackID, name: name)) {
        case .success: return
        case .refused(let failure): throw TrackTrouble(failure.message)
        case .failed(let error): throw TrackTrouble(error.message)
        }
    }
}
