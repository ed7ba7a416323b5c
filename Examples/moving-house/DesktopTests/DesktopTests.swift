import Foundation
import RelayCore
import RelayTestKit
import TestTraits
import Testing

/// Examples/moving-house: the window under an X server, used by pointer and keyboard, against the real service.
@Suite("The window of moving-house", .heavy, .serialized) struct DesktopTests {
    @Test("what is clicked and typed is what the service then has, and refusals stand beside what was pressed")
    func use() async throws {
        let service = try await MovingService()
        let window = try await MovingWindow(service)
        try await window.waits(for: "empty", toShow: "Order one above")
        try await window.waits(for: "status", toShow: "Connected to org.eventrelay.Service1")

        // An item without a box, and a box without a label.
        try await window.type("Lamp", into: "pack-entry")
        try await window.click("pack-button")
        try await window.waits(for: "a refusal") { $0["pack-note"]?.has("refused") == true }
        try await window.waits(for: "pack-note", toShow: "No box has room; order a box first.")
        try await window.click("order-button")
        try await window.waits(for: "order-note", toShow: "A label has 1 to 200 characters")
        #expect(window.layout()["pack-note"]?.has("refused") == true)
        #expect(try await service.boxes().isEmpty)

        // One by a click, one by a key. What is typed takes the old refusal away.
        try await window.click("order-5")
        try await window.type("Kitchen", into: "order-entry")
        try await window.waits(for: "no refusal") { $0["order-note"]?.has("refused") == false }
        try await window.click("order-button")
        try await window.waits(for: "order-note", toShow: "Box 1 is ordered.")
        try await window.waits(for: "an entry for the next one") { $0["order-entry"]?.text == "" }
        try await window.waits(for: "box-1-title", toShow: "Kitchen")
        for title in ["Kettle", "Plates", "Lamp"] {
            try await window.type(title, into: "pack-entry")
            try await window.press("Return")
            try await window.waits(for: "an entry for the next one") { $0["pack-entry"]?.text == "" }
        }
        try await window.agrees(with: service)
        #expect(window.boxes().map(\.load) == ["3 of 5"])

        // A box whose items have nowhere to go stays, and says so.
        try await window.click("box-1-dissolve")
        try await window.waits(for: "box-1-note", toShow: "The other boxes lack room for its items")
        try await window.click("item-1-remove")
        try await window.waits(for: "an item less") { $0["item-1"] == nil }
        try await window.agrees(with: service)
        try await window.click("order-20")
        try await window.type("Hall", into: "order-entry")
        try await window.press("Return")
        try await window.waits(for: "box-2-title", toShow: "Hall")
        try await window.click("box-1-dissolve")
        try await window.waits(for: "a box less") { $0["box-1"] == nil }
        try await window.agrees(with: service)
        #expect(window.boxes().map(\.load) == ["2 of 20"])
        try await window.waits(for: "summary", toShow: "1 box, 2 of 20 places taken")
        #expect(await eventually { window.log.first == "“Kitchen” is dissolved" })
        #expect(window.log.last == "No box had room for “Lamp”" && window.log.count == 12)
        let outcome = await window.close()
        #expect(outcome.code == 0 && outcome.errors.isEmpty, "\(outcome)")
    }
    @Test("a killed service is an interruption in view; after it the window is true again, and works")
    func restart() async throws {
        let service = try await MovingService()
        try await service.order("Kitchen", 10)
        try await service.pack("Kettle", "Plates")
        let window = try await MovingWindow(service)
        try await window.agrees(with: service)
        await service.kill()
        try await window.waits(for: "status", toShow: "Interrupted")
        #expect(window.boxes().map(\.load) == ["2 of 10"])
        try await window.type("Lamp", into: "pack-entry")
        try await window.click("pack-button")
        try await window.waits(for: "a failure beside the button") { $0["pack-note"]?.has("failed") == true }
        try await window.waits(for: "pack-note", toShow: "The service is away. Nothing was done.")
        #expect(window.layout()["pack-entry"]?.text == "Lamp")

        try await service.restart()
        try await window.waits(for: "status", toShow: "Connected")
        try await window.agrees(with: service)
        try await window.click("pack-button")
        try await window.waits(for: "summary", toShow: "3 of 10")
        try await window.agrees(with: service)
        #expect(window.layout()["gap"] == nil)

        // A journal that has nothing of what was before: the log lacks something, and says so until that is noticed.
        await service.kill()
        try await service.restart(withJournal: false)
        try await service.order("Garage", 20)
        try await window.waits(for: "box-1-title", toShow: "Garage")
        try await window.agrees(with: service)
        try await window.waits(for: "gap", toShow: "missing")
        #expect(await eventually { window.log.contains { $0.contains("missing") } })
        try await window.click("gap-dismiss")
        try await window.waits(for: "no gap") { $0["gap"] == nil }
        let outcome = await window.close()
        #expect(outcome.code == 0 && outcome.errors.isEmpty, "\(outcome)")
    }
    @Test("two windows follow each other, and a command from elsewhere shows in both")
    func windows() async throws {
        let service = try await MovingService()
        let first = try await MovingWindow(service)
        let second = try await MovingWindow(service, "--dark")
        try await first.type("Kitchen", into: "order-entry")
        try await first.press("Return")
        try await second.waits(for: "box-1-title", toShow: "Kitchen")
        try await second.type("Lamp", into: "pack-entry")
        try await second.click("pack-button")
        try await first.waits(for: "item-1", toShow: "Lamp")
        try await service.pack("Kettle")
        for window in [first, second] { try await window.waits(for: "item-2", toShow: "Kettle") }
        try await first.click("item-1-remove")
        try await second.waits(for: "an item less") { $0["item-1"] == nil }
        for window in [first, second] { try await window.agrees(with: service) }
        #expect(await eventually { first.log == second.log && first.log.count == 4 })
        for window in [first, second] { #expect(await window.close().code == 0) }
    }
    @Test("light and dark are two pictures, of the window in use")
    func pictures() async throws {
        let service = try await MovingService()
        let boxes = [
            ("Kitchen", 10), ("Books", 5), ("Living room", 20), ("Bathroom", 5), ("Workshop", 10), ("Hallway", 5),
        ]
        for (label, capacity) in boxes { try await service.order(label, capacity) }
        try await service.pack(
            "Kettle", "Atlas", "Floor lamp", "Towels", "Drill", "Umbrellas", "Plates", "Dictionary", "Record player",
            "Mirror", "Screws", "Boots", "Tea tin", "Cookbook", "Curtains", "Scales", "Saw", "Coats", "Cups", "Poems",
            "Sofa cushions", "First-aid kit", "Spirit level", "Key rack", "Toaster", "Novels", "Vase", "Soap",
            "Pliers", "Doormat")
        let window = try await MovingWindow(service, "--light")
        try await window.agrees(with: service)
        // A box comes and goes, with what is in it; then there is little room, and a refusal.
        try await service.order("Odds and ends", 5)
        try await service.pack("Batteries", "Candles", "String")
        try await service.cli("call", "RemoveBox", "boxID=7")
        try await service.pack("Whisk", "Clock", "Glue", "Sieve")
        try await window.agrees(with: service)
        try await window.click("item-5-remove")
        try await window.waits(for: "an item less") { $0["item-5"] == nil }
        try await window.click("box-3-dissolve")
        try await window.waits(for: "box-3-note", toShow: "lack room")
        #expect(await eventually { window.log.count == 6 + 30 + 1 + 3 + 3 + 1 + 4 + 1 + 2 })
        let light = try await window.picture()
        try await window.click("theme")
        try await window.waits(for: "dark") { $0["window"]?.style == "dark" }
        try await window.pointAside()
        let dark = try await window.picture()
        let (day, night) = (try Picture(light), try Picture(dark))
        let width = try #require(window.layout()["window"]?.width)
        for picture in [day, night] {
            #expect(picture.width == Int(width) && picture.height > 600 && picture.colours > 100)
        }
        #expect(day.brightness > 0.7 && night.brightness < 0.3)
        for file in [light, dark] {
            let data = try Data(contentsOf: URL(filePath: file))
            #expect(data.count < 400_000)
            // scripts/desktop-pictures --update copies them into docs.
            if let folder = ProcessInfo.processInfo.environment["RELAY_PICTURES"] {
                try data.write(to: URL(filePath: folder).appending(path: URL(filePath: file).lastPathComponent))
            }
        }
        #expect(await window.close().code == 0)
    }
}
