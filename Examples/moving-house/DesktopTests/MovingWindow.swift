import Foundation
import RelayCore
import RelayTestKit

/// The program with its window on a desktop of its own: read by the report that it writes after each frame, and driven by
/// the pointer and the keyboard.
final class MovingWindow: Sendable {
    /// A widget, as it was drawn last.
    struct Shape: Decodable, Sendable {
        let name: String
        let x, y, width, height: Double
        let isSensitive: Bool
        /// Whether a click in its middle reaches it.
        let isHit: Bool
        /// What it is in: the closest widget with a name.
        let outer: String?
        let text: String?
        let share: Double?
        let style: String

        func has(_ style: String) -> Bool { self.style.split(separator: " ").contains { $0 == style } }
    }
    private let desktop: Desktop
    private let folder: TestFolder
    private let program: RunningProgram
    private var report: String { folder.path + "/layout.jsonl" }
    /// Where F12 saves its pictures.
    var pictures: String { folder.path }

    init(_ service: MovingService, _ options: String...) async throws {
        (desktop, folder) = (try await Desktop(), try TestFolder())
        // No settings, no portals, no accessibility bus, no input method, no GPU: only what the program brings.
        let environment = Programs.environment([
            "DISPLAY": desktop.display, "DBUS_SESSION_BUS_ADDRESS": service.bus.address, "HOME": folder.path,
            "XDG_RUNTIME_DIR": folder.path, "GDK_BACKEND": "x11", "GSK_RENDERER": "cairo", "GTK_A11Y": "none",
            "GTK_USE_PORTAL": "0", "GSETTINGS_BACKEND": "memory", "GTK_IM_MODULE": "gtk-im-context-simple",
            "LANG": "C.UTF-8",
        ])
        program = try RunningProgram(
            Programs.folder + "/moving-house",
            ["--bus", service.bus.address, "--report", folder.path + "/layout.jsonl", "--pictures", folder.path]
                + options,
            environment: environment)
        try await waits(for: "the first frame") { $0["window"].map { $0.width > 100 } ?? false }
        try await pointAside()
        // There is no window manager that would do it.
        try await desktop.act("search", "--sync", "--onlyvisible", "--pid", "\(program.processID)", "windowfocus")
    }
    func close() async -> RunningProgram.Outcome { await program.terminate() }

    // MARK: What it shows

    func layout() -> [String: Shape] {
        guard let text = try? String(contentsOfFile: report, encoding: .utf8) else { return [:] }
        let shapes = text.split(separator: "\n").compactMap {
            try? JSONDecoder().decode(Shape.self, from: Data($0.utf8))
        }
        return Dictionary(shapes.map { ($0.name, $0) }) { $1 }
    }
    func waits(for what: String, _ condition: ([String: Shape]) -> Bool) async throws {
        if await eventually({ condition(layout()) || program.exit != nil }), program.exit == nil { return }
        let shown = layout().values.map { "\($0.name): \($0.text ?? "") [\($0.style)]" }.sorted()
        throw RelayError(.timedOut, "not shown: \(what)\n" + (shown + program.errors).joined(separator: "\n"))
    }
    func waits(for name: String, toShow text: String) async throws {
        try await waits(for: "\(name) '\(text)'") { $0[name]?.text?.contains(text) == true }
    }
    /// The boxes as they are drawn: nil while none can be.
    func boxes() -> [ShownBox] {
        let layout = layout()
        let ids = layout.keys.compactMap { $0.hasPrefix("box-") ? Int64($0.dropFirst(4)) : nil }
        return ids.sorted().map { id in
            let items = layout.values.filter { shape in
                shape.outer == "box-\(id)" && shape.name.hasPrefix("item-") && !shape.name.hasSuffix("-remove")
            }
            return ShownBox(
                id: id, title: layout["box-\(id)-title"]?.text ?? "", load: layout["box-\(id)-load"]?.text ?? "",
                share: layout["box-\(id)-bar"]?.share ?? -1,
                items: items.map { "\($0.name.dropFirst(5)) \($0.text ?? "")" }.sorted())
        }
    }
    /// Waits until it shows what the service says.
    func agrees(with service: MovingService) async throws {
        let said = try await service.boxes()
        if await eventually({ boxes() == said }) { return }
        throw RelayError(.timedOut, "the window shows \(boxes()), and the service says \(said)")
    }
    var log: [String] {
        layout().values.filter { $0.name.hasPrefix("log-") }.sorted { $0.y < $1.y }.compactMap(\.text)
    }

    // MARK: What a person does

    /// Moves the pointer to a widget, and clicks.
    func click(_ name: String) async throws {
        try await waits(for: "\(name), to be clicked") { $0[name]?.isSensitive == true && $0[name]?.isHit == true }
        guard let shape = layout()[name] else { return }
        let (x, y) = (Int(shape.x + shape.width / 2), Int(shape.y + shape.height / 2))
        try await desktop.act("mousemove", "\(x)", "\(y)", "click", "1")
    }
    /// Leaves the pointer in the window, where there is nothing.
    func pointAside() async throws { try await desktop.act("mousemove", "500", "12") }
    /// Clicks an entry, and types in place of what it has.
    func type(_ text: String, into name: String) async throws {
        try await click(name)
        try await press("ctrl+a")
        try await press("BackSpace")
        try await waits(for: "an empty \(name)") { $0[name]?.text == "" }
        try await desktop.act("type", "--delay", "15", "--", text)
        try await waits(for: "\(name) '\(text)'") { $0[name]?.text == text }
    }
    func press(_ key: String) async throws { try await desktop.act("key", "--clearmodifiers", key) }

    /// Saves a picture by the window's own key, and returns its file.
    func picture() async throws -> String {
        let file = "\(pictures)/moving-house-\(layout()["window"]?.style ?? "").png"
        unlink(file)
        try await press("F12")
        if await eventually({ access(file, R_OK) == 0 }) { return file }
        throw RelayError(.timedOut, "F12 saved no \(file)")
    }
}
