public import RelayCore
import Tracks
public import TrackViews

/// Owns what a window is made of. Released, it releases all of it: view, presenter and handler know each other only as far
/// as events go, so there is no cycle.
@MainActor public final class TrackWindow {
    public let panel: TrackPanel
    let presenter: TrackPresenter
    let handler: TrackEventHandler
    private let following: Subscription

    init(panel: TrackPanel, presenter: TrackPresenter, handler: TrackEventHandler, following: Subscription) {
        (self.panel, self.presenter, self.handler, self.following) = (panel, presenter, handler, following)
    }
}

/// Makes windows: each object from those before it, so that none has to be completed later.
@MainActor public struct TrackWindowFactory {
    private let relay: EventRelay
    private let files: any TrackFiles

    public init(_ relay: EventRelay, files: any TrackFiles = TracksOnDisk()) {
        (self.relay, self.files) = (relay, files)
    }

    public func makeWindow(print: @escaping (String) -> Void) throws -> TrackWindow {
        let publisher = EventPublisher()
        let panel = TrackPanel(publisher, print: print)
        let presenter = TrackPresenter(panel, publisher)
        let handler = TrackEventHandler(publisher, commands: relay, files: files)
        let following = try relay.follow(Tracks1.self, asking: ListTracks()) { [weak presenter] reply in
            presenter?.show(reply)
        } then: { [weak presenter] event in
            presenter?.apply(event)
        } onFailure: { [weak presenter] error in
            presenter?.show(error.message)
        }
        return TrackWindow(panel: panel, presenter: presenter, handler: handler, following: following)
    }
}
