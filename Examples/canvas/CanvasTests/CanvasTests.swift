import RelayCore
import RelayTestKit
import Testing

@testable import Canvases

/// Files of a test: some cannot be written.
private struct BrokenFiles: CanvasFiles {
    struct Full: Error, CustomStringConvertible { let description = "disk full" }
    var broken: Set<String> = []
    func write(_ text: String, to file: String) throws { if broken.contains(file) { throw Full() } }
}

@MainActor @Suite("Two canvases, one publisher") struct CanvasTests {
    private let recorder = RecordingSink(EventPublisher())
    private func window(
        _ number: Int, files: BrokenFiles = BrokenFiles(),
        pickFile: @escaping @MainActor (SavingCanvasFailed) -> String? = { _ in nil }
    ) -> CanvasWindow {
        CanvasWindow(
            Canvas(number: number, title: "Plan"), saver: CanvasSaver(files: files, publisher: recorder.publisher),
            publisher: recorder.publisher, pickFile: pickFile)
    }

    @Test("each hears of its own canvas only, though their titles are the same") func identity() async {
        let (first, second) = (window(1), window(2))
        first.save(as: "a")
        #expect(await eventually { first.savedFile == "a" })
        second.save(as: "b")
        #expect(await eventually { second.savedFile == "b" })
        #expect(first.lines == ["saved as a"] && second.lines == ["saved as b"])
        #expect(
            recorder.events(of: CanvasSaved.self) == [
                CanvasSaved(canvas: first.canvas.id, file: "a"), CanvasSaved(canvas: second.canvas.id, file: "b"),
            ])
    }
    @Test("a file that cannot be written is reported, another is picked, and that one is tried") func retry() async {
        var asked: [String] = []
        let files = BrokenFiles(broken: ["a", "b"])
        let window = window(1, files: files) { failure in
            asked.append("\(failure.file): \(failure.reason)")
            return failure.file == "a" ? "b" : "c"
        }
        window.draw("a table")
        window.save(as: "a")
        #expect(await eventually { window.savedFile == "c" })
        #expect(asked == ["a: disk full", "b: disk full"])
        #expect(recorder.events(of: SavingCanvasFailed.self).map(\.file) == ["a", "b"])
    }
    @Test("who picks no file has an unsaved canvas, and the next stroke makes a saved one unsaved") func unsaved() async
    {
        let window = window(1, files: BrokenFiles(broken: ["a"]))
        window.save(as: "a")
        #expect(await eventually { window.lines == ["a: disk full", "not saved"] })
        #expect(window.savedFile == nil)
        window.save(as: "b")
        #expect(await eventually { window.savedFile == "b" })
        window.draw("a chair")
        #expect(window.savedFile == nil)
    }
    @Test("a window that is closed is released, and hears nothing more") func closed() async {
        var closed: CanvasWindow? = window(1)
        weak let reference = closed
        closed = nil
        #expect(await eventually { reference == nil })
    }
}
