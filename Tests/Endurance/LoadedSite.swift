import RelayTestKit
import Testing

/// Three drivers at work, and three watchers: one from the beginning, one that resumes, and a live one. None of them is started.
struct LoadedSite {
    let site: Site
    let load: Load
    let first, resuming, live: Watcher

    init(_ site: Site) throws {
        self.site = site
        load = try Load(site, drivers: 3, seed: Endurance.seed)
        first = Watcher(site, "--since", "start")
        resuming = Watcher(site, "--resume", "endurance")
        live = Watcher(site)
    }
    /// Ends all of them, and checks that they tell the same story.
    ///
    /// - Parameters:
    ///   - service: that runs now.
    ///   - kills: how many there were.
    /// - Returns: how many events there were, and what each driver met.
    func finish(
        with service: RunningProgram, after kills: Int
    ) async throws -> (head: UInt64, figures: [Driver.Figures]) {
        let drivers = try await load.finish()
        let head = try await Finale(
            site: site, service: service, drivers: drivers.map(\.memory),
            watchers: [
                .init(watcher: first, name: "the one from the beginning"),
                .init(watcher: resuming, name: "the one that resumes"),
                .init(watcher: live, name: "the live one", isLive: true),
            ]
        ).check()
        // Few on a busy machine; without any nothing was tested.
        #expect(drivers.map(\.memory.facts.count).reduce(0, +) > kills / 4, "there was no load")
        return (head, drivers.map(\.figures))
    }
}
