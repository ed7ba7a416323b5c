import RelayCore

@testable import relay_cli

/// What `top` shows in the tests of its screens: half a minute of a service that publishes figures and boxes.
enum TopScreens {
    static let telemetry = "org.eventrelay.Telemetry1"
    static let relocation = "org.eventrelay.Relocation1"

    static let subscribers = [
        StatusSubscriber(peer: ":1.5", names: ["*"], transport: "ring", sequence: 30_400),
        StatusSubscriber(peer: ":1.12", names: ["CPUSampled", "LoadSampled"], transport: "signal", sequence: 29_000),
        StatusSubscriber(peer: ":1.31", names: ["MemorySampled"], transport: "ring", sequence: 0),
    ]
    static let programs = [":1.5": "relay-cli", ":1.12": "dashboard"]

    static func model(
        ticks: Int = 30, subscribers: [StatusSubscriber]? = TopScreens.subscribers, others: Int = 0
    ) -> TopModel {
        var model = TopModel(service: "org.eventrelay.Service1")
        model.follow(EventSelection(names: [telemetry: nil, relocation: nil]))
        for tick in 0..<ticks {
            var tally = TopTally(sequence: UInt64(tick) * 1_010, lost: tick == 3 ? 12 : 0)
            for (name, count, slowest) in [
                ("CPUSampled", 100 * UInt64(1 + tick % 8), 6_912), ("LoadSampled", 2, 80),
                ("MemorySampled", 200, 1_100),
            ] as [(String, UInt64, UInt64)] {
                var event = TopTally.Event(count: count)
                for time in [44, 48, 52, 60, 85, 120, slowest] { event.latency.add(time) }
                tally.events[name] = event
            }
            var boxes = TopTally(sequence: 41)
            boxes.events["BoxProvisioned"] = TopTally.Event(count: tick == 20 ? 1 : 0)
            boxes.events["ItemDistributionFailed"] = TopTally.Event(count: 0)
            if tick == 29 { boxes.events["BoxProvisioned"]?.latency.add(450) }
            model.tick([telemetry: tally, relocation: boxes], seconds: 1)
        }
        var list = subscribers.map { StatusSubscribers($0) }
        list?.count += others
        model.take(TopStatus(head: 30_500, ringIsOpen: true, subscribers: list), of: telemetry)
        model.take(TopStatus(head: 41, subscribers: list.map { _ in StatusSubscribers() }), of: relocation)
        model.take(programs: programs)
        return model
    }
    /// So many streams, events and subscribers that no terminal has room for them.
    static func many() -> TopModel {
        let names = (1...40).map { "org.example.fleet.Unit\($0)" }
        var model = TopModel(service: "org.example.fleet")
        model.follow(EventSelection(names: Dictionary(uniqueKeysWithValues: names.map { ($0, nil) })))
        for _ in 0..<3 {
            let tallies = names.enumerated().map { index, name in
                var event = TopTally.Event(count: UInt64(index))
                event.latency.add(UInt64(index) * 1_000)
                return (name, TopTally(events: ["Sampled": event], sequence: 100, lost: UInt64(index % 3)))
            }
            model.tick(Dictionary(uniqueKeysWithValues: tallies), seconds: 1)
        }
        for (index, name) in names.enumerated() {
            let peers = (0..<5).map { peer in
                StatusSubscriber(
                    peer: ":1.\(100 * peer + index)", names: ["*"], transport: peer == 0 ? "signal" : "ring",
                    sequence: UInt64(100 - peer))
            }
            model.take(TopStatus(head: 100, subscribers: StatusSubscribers(peers)), of: name)
        }
        return model
    }

    static func screen(
        _ model: TopModel, _ browser: TopBrowser = TopBrowser(), width: Int, height: Int = 24, isUTF8: Bool = true
    ) -> String {
        TopView(width: width, height: height, isUTF8: isUTF8).screen(model, browser).map { $0.text + "\n" }.joined()
    }
    /// As it is after these keys.
    static func browser(
        _ keys: [TopKey], _ model: TopModel, page: TopPage = .streams, room: Int = 20
    ) -> TopBrowser {
        var browser = TopBrowser(page: page)
        for key in keys { _ = browser.take(key, rows: model.rows(on: browser.page, browser.sorting), room: room) }
        return browser
    }
}
