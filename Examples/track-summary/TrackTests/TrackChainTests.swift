import RelayCore
import RelayJournal
import RelayTestKit
import Testing
import TrackDesk
import TrackViews
import Tracks

@testable import TrackFrontend

@MainActor private final class Lines { var all: [String] = [] }

/// The whole chain as the factories make it: two windows, and a service with its journal.
@MainActor @Suite("The chain, from a view and back") struct TrackChainTests {
    private let folder: TestFolder
    private let harness = TestHarness()
    private let gpx = """
        <gpx><trk><name>Line</name><trkseg><trkpt lat="0" lon="0"/><trkpt lat="0" lon="1"/></trkseg></trk></gpx>
        """
    init() throws { folder = try TestFolder() }

    private func start() async throws -> EventService {
        let journal = try EventJournal(directory: folder.path)
        let service = try await TrackServiceFactory(journal: journal, bus: harness.bus).makeService()
        try await harness.start(service)
        return service
    }
    private func relay() throws -> EventRelay {
        let relay = try EventRelay(
            following: TrackServiceFactory.serviceName, on: harness.bus, interfaces: Tracks1.self)
        relay.activate()
        return relay
    }

    @Test("what one window does, every window shows; a window opened later shows the present state") func windows()
        async throws
    {
        let service = try await start()
        let (first, second, third) = (Lines(), Lines(), Lines())
        let files = FilesOfTest(text: gpx)
        let (anna, ben) = (
            try TrackWindowFactory(try relay(), files: files).makeWindow { first.all.append($0) },
            try TrackWindowFactory(try relay(), files: files).makeWindow { second.all.append($0) }
        )
        anna.panel.choose(file: "track.gpx")
        #expect(await eventually { second.all.contains("#1 Line") && first.all.contains("#1 Line") })
        #expect(first.all.contains("   2 points, 111.2 km"))
        ben.panel.enter(name: "Equator", for: 1)
        #expect(await eventually { first.all.contains("#1 Equator") && second.all.contains("#1 Equator") })
        let carla = try TrackWindowFactory(try relay(), files: files).makeWindow { third.all.append($0) }
        #expect(await eventually { third.all.first == "#1 Equator" })
        try await harness.stop(service)
        withExtendedLifetime(carla) {}
    }
    @Test("a bad file is said with its line in the window that chose it, and nowhere else") func badFile() async throws
    {
        let service = try await start()
        let (first, second) = (Lines(), Lines())
        let bad = FilesOfTest(text: "<gpx>\n<trk><trkseg>\n<trkpt lat=\"95\" lon=\"0\"/>\n</trkseg></trk></gpx>")
        let anna = try TrackWindowFactory(try relay(), files: bad).makeWindow { first.all.append($0) }
        let ben = try TrackWindowFactory(try relay(), files: FilesOfTest(text: gpx)).makeWindow {
            second.all.append($0)
        }
        anna.panel.choose(file: "track.gpx")
        #expect(await eventually { first.all == ["! line 3: lat=\"95\" is no number from -90 to 90"] })
        // What comes behind it shows that the other window has seen nothing of it.
        ben.panel.choose(file: "track.gpx")
        #expect(await eventually { second.all.count == 4 && second.all.first == "#1 Line" })
        try await harness.stop(service)
        withExtendedLifetime((anna, ben)) {}
    }
    @Test("names and tracks outlive the service") func restart() async throws {
        let lines = Lines()
        let window = try TrackWindowFactory(try relay(), files: FilesOfTest(text: gpx)).makeWindow {
            lines.all.append($0)
        }
        // The journal must be closed before it is opened again: it lives as long as the service.
        try await {
            let service = try await start()
            window.panel.choose(file: "track.gpx")
            #expect(await eventually { lines.all.contains("#1 Line") })
            try await harness.stop(service)
        }()
        let journal = try await EventJournal.open(directory: folder.path, waiting: .seconds(60))
        let names: [String] = try await journal.read { snapshot in
            try snapshot.query("SELECT name FROM tracks") { row in try row["name"] }
        }
        #expect(names == ["Line"])
        withExtendedLifetime(window) {}
    }

    @Test("the chain is released with its owner, while relay and service go on; and then nobody acts") func released()
        async throws
    {
        let service = try await start()
        let relay = try relay()
        let lines = Lines()
        weak var panel: TrackPanel?
        weak var presenter: TrackPresenter?
        weak var handler: TrackEventHandler?
        // A debug build keeps a `let` to the end of its scope.
        try await {
            let window = try TrackWindowFactory(relay, files: FilesOfTest(text: gpx)).makeWindow {
                lines.all.append($0)
            }
            (panel, presenter, handler) = (window.panel, window.presenter, window.handler)
            window.panel.choose(file: "track.gpx")
            #expect(await eventually { lines.all.contains("#1 Line") })
        }()
        #expect(await eventually { panel == nil && presenter == nil && handler == nil })
        let count = lines.all.count
        try await relay.renameTrack(1, to: "Equator")
        try await harness.settle()
        #expect(lines.all.count == count)
        try await harness.stop(service)
    }
}
