import CGTK
import MovingHouse
import RelayCore

/// The window: the model calls it, and so does GTK.
@MainActor final class MoveWindow {
    private let content: WindowContent
    private var report: LayoutReport?

    /// - Parameter closed: is called when a person closes the window.
    init(_ model: MoveModel, _ options: Options, closed: @escaping () -> Void) {
        // GTK holds what its signals call: the model is not held by that.
        let content = WindowContent(isDark: options.isDark, title: options.title) { [weak model] in model?.perform($0) }
        self.content = content
        // Closing hides it, so that nothing is gone while the loop's last round runs.
        gtk_window_set_hide_on_close(as_window(content.window), 1)
        connect(content.window, "hide", closed)
        if let folder = options.pictures { Self.savePictures(of: content, folder) }
    }
    func present(_ options: Options) {
        content.present()
        if let file = options.report { report = LayoutReport(of: content, to: file) }
    }
    func show(_ view: MoveView) { content.show(view) }

    /// F12 saves a picture of the window.
    private static func savePictures(of content: WindowContent, _ folder: String) {
        connectKey(content.window, "F12") { [weak content] in
            guard let content else { return }
            let file = "\(folder)/moving-house-\(content.isDark ? "dark" : "light").png"
            // Under another name first: a reader sees the whole picture or none.
            if save_picture(content.window, file + ".part") != 0 { rename(file + ".part", file) }
        }
    }
}
