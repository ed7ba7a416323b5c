// GTK for Swift: what the headers have as macros, and signals with one kind of callback.
#pragma once
// Newer versions of GTK deprecate some of what GTK 4.8 has: that is no warning here.
#define GDK_DISABLE_DEPRECATION_WARNINGS
#define GLIB_DISABLE_DEPRECATION_WARNINGS
#include <glib-unix.h>
#include <gtk/gtk.h>

// Checked casts. GTK prints a critical message for a wrong one.
static inline GtkBox *as_box(GtkWidget *widget) { return GTK_BOX(widget); }
static inline GtkButton *as_button(GtkWidget *widget) { return GTK_BUTTON(widget); }
static inline GtkDrawingArea *as_drawing_area(GtkWidget *widget) { return GTK_DRAWING_AREA(widget); }
static inline GtkEditable *as_editable(GtkWidget *widget) { return GTK_EDITABLE(widget); }
static inline GtkEntry *as_entry(GtkWidget *widget) { return GTK_ENTRY(widget); }
static inline GtkFlowBox *as_flow_box(GtkWidget *widget) { return GTK_FLOW_BOX(widget); }
static inline GtkHeaderBar *as_header_bar(GtkWidget *widget) { return GTK_HEADER_BAR(widget); }
static inline GtkLabel *as_label(GtkWidget *widget) { return GTK_LABEL(widget); }
static inline GtkLevelBar *as_level_bar(GtkWidget *widget) { return GTK_LEVEL_BAR(widget); }
static inline GtkScrolledWindow *as_scrolled_window(GtkWidget *widget) { return GTK_SCROLLED_WINDOW(widget); }
static inline GtkStack *as_stack(GtkWidget *widget) { return GTK_STACK(widget); }
static inline GtkToggleButton *as_toggle_button(GtkWidget *widget) { return GTK_TOGGLE_BUTTON(widget); }
static inline GtkWindow *as_window(GtkWidget *widget) { return GTK_WINDOW(widget); }
static inline GtkStyleProvider *as_style_provider(GtkCssProvider *provider) { return GTK_STYLE_PROVIDER(provider); }

// Calls `callback(data)` for a signal without a result, and `release(data)` when the signal is no longer connected:
// at the latest when the object is finalized. G_CONNECT_SWAPPED makes `data` the first argument; C ignores the others.
static inline void connect_callback(gpointer object, const char *signal, void (*callback)(gpointer), gpointer data,
    void (*release)(gpointer, GClosure *)) {
    g_signal_connect_data(object, signal, G_CALLBACK(callback), data, release, G_CONNECT_SWAPPED);
}
// Varargs and their macros are not imported.
static inline void set_flag(gpointer object, const char *property, gboolean value) {
    g_object_set(object, property, value, NULL);
}
static inline gboolean get_flag(gpointer object, const char *property) {
    gboolean value = FALSE;
    g_object_get(object, property, &value, NULL);
    return value;
}

// For tests: what a widget is called, if it was given a name, and which text it shows. NULL for none.
static inline const char *given_name(GtkWidget *widget) {
    const char *name = gtk_widget_get_name(widget);
    return g_strcmp0(name, G_OBJECT_TYPE_NAME(widget)) == 0 ? NULL : name;
}
static inline const char *shown_text(GtkWidget *widget) {
    if (GTK_IS_LABEL(widget)) return gtk_label_get_text(GTK_LABEL(widget));
    if (GTK_IS_EDITABLE(widget)) return gtk_editable_get_text(GTK_EDITABLE(widget));
    if (GTK_IS_BUTTON(widget)) return gtk_button_get_label(GTK_BUTTON(widget));
    return NULL;
}
static inline double shown_share(GtkWidget *widget) {
    return GTK_IS_LEVEL_BAR(widget) ? gtk_level_bar_get_value(GTK_LEVEL_BAR(widget)) : -1;
}

// The window as its own renderer draws it, in a PNG file.
static inline gboolean save_picture(GtkWidget *window, const char *file) {
    GdkPaintable *paintable = gtk_widget_paintable_new(window);
    GtkSnapshot *snapshot = gtk_snapshot_new();
    double width = gtk_widget_get_width(window), height = gtk_widget_get_height(window);
    gdk_paintable_snapshot(paintable, snapshot, width, height);
    g_object_unref(paintable);
    GskRenderNode *node = gtk_snapshot_free_to_node(snapshot);
    if (node == NULL) return FALSE;
    graphene_rect_t bounds = GRAPHENE_RECT_INIT(0, 0, (float)width, (float)height);
    GdkTexture *texture = gsk_renderer_render_texture(gtk_native_get_renderer(GTK_NATIVE(window)), node, &bounds);
    gsk_render_node_unref(node);
    // Not by gdk_texture_save_to_png: that compresses less.
    GdkPixbuf *pixels = gdk_pixbuf_get_from_texture(texture);
    g_object_unref(texture);
    gboolean saved = pixels != NULL && gdk_pixbuf_save(pixels, file, "png", NULL, "compression", "9", NULL);
    g_clear_object(&pixels);
    return saved;
}
