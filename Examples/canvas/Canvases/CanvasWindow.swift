public import RelayEvents

/// The view model of one window. It hears of its own canvas only, and asks for another file when one cannot be written.
@MainActor public final class CanvasWindow {
    public private(set) var canvas: Canvas
    /// What people would see, line by line.
    public private(set) var lines: [String] = []
    /// The file that has what is shown; nil while something is unsaved.
    public private(set) var savedFile: String?
    private let saver: CanvasSaver
    /// Asks for another file; nil: they gave up.
    private let pickFile: @MainActor (SavingCanvasFailed) -> String?

    public init(
        _ canvas: Canvas, saver: CanvasSaver, publisher: EventPublisher,
        pickFile: @escaping @MainActor (SavingCanvasFailed) -> String?
    ) {
        (self.canvas, self.saver, self.pickFile) = (canvas, saver, pickFile)
        // Held weakly: a window that is closed hears nothing more, and nobody has to unsubscribe it.
        publisher.subscribe(self, to: CanvasSaved.self) { window, event in
            window.saved(event)
        } onGap: { _, _ in
        }
        publisher.subscribe(self, to: SavingCanvasFailed.self) { window, event in
            window.failed(event)
        } onGap: { _, _ in
        }
    }

    public func draw(_ stroke: String) {
        canvas.strokes.append(stroke)
        savedFile = nil
    }
    public func save(as file: String) {
        let (canvas, saver) = (canvas, saver)
        Task { await saver.save(canvas, as: file) }
    }
    private func saved(_ event: CanvasSaved) {
        guard event.canvas == canvas.id else { return }
        savedFile = event.file
        lines.append("saved as \(event.file)")
    }
    private func failed(_ event: SavingCanvasFailed) {
        guard event.canvas == canvas.id else { return }
        lines.append("\(event.file): \(event.reason)")
        if let file = pickFile(event) { save(as: file) } else { lines.append("not saved") }
    }
}
