import CGTK

/// The window's own style sheet, light or dark as GTK's settings say.
final class Theme {
    private let provider: UnsafeMutablePointer<GtkCssProvider>
    private let settings: OpaquePointer

    /// - Parameter isDark: nil leaves the settings as they are.
    init(isDark: Bool?) {
        // Both are there: GTK was initialised with a display.
        (provider, settings) = (gtk_css_provider_new()!, gtk_settings_get_default()!)
        gtk_style_context_add_provider_for_display(
            gdk_display_get_default(), as_style_provider(provider), guint(GTK_STYLE_PROVIDER_PRIORITY_APPLICATION))
        if let isDark { set(isDark) }
        connect(UnsafeMutableRawPointer(settings), "notify::\(Self.preference)") { [weak self] in self?.load() }
        load()
    }
    deinit { g_object_unref(provider) }
    private static let preference = "gtk-application-prefer-dark-theme"
    var isDark: Bool { get_flag(UnsafeMutableRawPointer(settings), Self.preference) != 0 }
    func toggle() { set(!isDark) }
    private func set(_ isDark: Bool) { set_flag(UnsafeMutableRawPointer(settings), Self.preference, isDark ? 1 : 0) }
    private func load() {
        gtk_css_provider_load_from_data(provider, (isDark ? StyleSheet.dark : StyleSheet.light) + StyleSheet.rules, -1)
    }
}

enum StyleSheet {
    static let light = """
        @define-color page #f4f1ec; @define-color panel #ffffff; @define-color edge #e3ddd3;
        @define-color ink #2a2723; @define-color faint #6f685e; @define-color field #faf8f5;
        @define-color accent #a8612a; @define-color accent_ink #ffffff; @define-color accent_edge #945220;
        @define-color track #ece6dc; @define-color hover #f1ece4;
        @define-color good #2e7d53; @define-color warn #b07908; @define-color bad #b93a2b; @define-color bad_soft #fbebe8;
        @define-color calm #4a74a8;
        """
    static let dark = """
        @define-color page #1b1917; @define-color panel #262320; @define-color edge #3a3530;
        @define-color ink #f0ebe4; @define-color faint #a69d91; @define-color field #1f1c1a;
        @define-color accent #d9914f; @define-color accent_ink #1d1206; @define-color accent_edge #e2a064;
        @define-color track #37322c; @define-color hover #322d29;
        @define-color good #62c08c; @define-color warn #e0b04a; @define-color bad #f08a7a; @define-color bad_soft #40241f;
        @define-color calm #84addf;
        """
    static let rules = """
        window.moving-house { background: @page; color: @ink; font-family: "Inter", "Cantarell", "Noto Sans", sans-serif; font-size: 14px; }
        window.solid-csd { margin: 0; padding: 0; box-shadow: none; border-radius: 0; }
        headerbar { background: @panel; color: @ink; border-bottom: 1px solid @edge; box-shadow: none; min-height: 56px; padding: 0 10px 0 16px; }
        windowcontrols button { background: none; border-color: transparent; min-height: 28px; min-width: 28px; padding: 0; color: @faint; }
        .headline { font-size: 18px; font-weight: 700; }
        .summary { font-size: 12px; color: @faint; }
        .heading { font-weight: 600; }
        .faint, .time { color: @faint; font-size: 12px; }
        .time { font-feature-settings: "tnum"; }
        .content { padding: 16px; }
        .panel, .card { background: @panel; border: 1px solid @edge; border-radius: 12px; padding: 14px 16px; }
        .grid > flowboxchild { padding: 0; border-radius: 12px; background: none; }

        entry { background: @field; color: @ink; border: 1px solid @edge; border-radius: 8px; min-height: 34px; padding: 0 10px; box-shadow: none; outline: none; caret-color: @accent; }
        entry:focus-within { border-color: @accent; }
        entry > text > placeholder { color: @faint; }
        button { background: @panel; color: @ink; border: 1px solid @edge; border-radius: 8px; min-height: 34px; padding: 0 12px; box-shadow: none; text-shadow: none; font-weight: 500; outline: none; }
        button:hover { background: @hover; }
        button:focus-visible { border-color: @accent; }
        button:disabled { opacity: 0.5; }
        button.suggested { background: @accent; color: @accent_ink; border-color: @accent_edge; font-weight: 600; padding: 0 18px; }
        button.suggested:hover { background: @accent_edge; }
        .linked > button { border-radius: 0; border-left-width: 0; min-width: 22px; }
        .linked > button:first-child { border-radius: 8px 0 0 8px; border-left-width: 1px; }
        .linked > button:last-child { border-radius: 0 8px 8px 0; }
        .linked > button:checked { background: @track; color: @accent; font-weight: 700; }
        button.quiet { background: none; border-color: transparent; color: @faint; min-height: 28px; padding: 0 8px; font-size: 13px; }
        .card button.quiet { margin-right: -9px; }
        .card scrolledwindow > viewport > box { padding-right: 7px; }
        button.quiet:hover { background: @hover; color: @ink; }
        button.quiet:focus-visible, button.remove:focus-visible { border-color: @accent; }
        button.remove { background: none; border-color: transparent; color: @faint; min-height: 22px; min-width: 22px; padding: 0; border-radius: 6px; }
        button.remove image { -gtk-icon-size: 12px; }
        button.remove:hover { background: @bad_soft; color: @bad; }

        .note { font-size: 12px; color: @faint; }
        .note.done { color: @good; }
        .note.refused, .note.failed { color: @bad; font-weight: 500; }
        .card .note { background: @bad_soft; border-radius: 8px; padding: 6px 10px; }
        .card .title { font-size: 15px; font-weight: 600; }
        .card .load { color: @faint; font-size: 13px; font-feature-settings: "tnum"; }
        .card .item { border-radius: 6px; padding: 1px 2px 1px 0; }
        .card .item:hover { background: @hover; }
        levelbar trough { background: @track; border: none; border-radius: 4px; min-height: 8px; padding: 0; }
        levelbar block { border: none; border-radius: 4px; min-height: 8px; min-width: 0; }
        levelbar block.filled { background: @accent; }
        levelbar.nearly block.filled { background: @warn; }
        levelbar.full block.filled { background: @good; }
        levelbar block.empty { background: none; }

        .log .line { padding: 7px 0; border-bottom: 1px solid alpha(@edge, 0.7); font-size: 13px; }
        .dot { min-width: 8px; min-height: 8px; border-radius: 4px; background: @faint; }
        .log .dot { margin-top: 5px; }
        .dot.added { background: @good; } .dot.moved { background: @calm; } .dot.removed { background: @faint; }
        .dot.refused { background: @bad; } .dot.gap { background: @warn; }
        .status { background: @panel; border-top: 1px solid @edge; padding: 8px 16px; font-size: 13px; min-height: 24px; }
        .status.connected .dot { background: @good; } .status.connecting .dot { background: @warn; }
        .status.interrupted .dot { background: @warn; } .status.ended .dot { background: @bad; }
        .status.interrupted label { color: @warn; } .status.ended label { color: @bad; }
        .gap, .gap label { color: @warn; font-weight: 500; }
        tooltip { background: @ink; color: @page; border-radius: 6px; }
        scrollbar { background: none; border: none; }
        """
}
