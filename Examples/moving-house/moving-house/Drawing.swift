import CGTK

/// A cardboard box, drawn: no icon theme has one.
func drawing(of size: Int32) -> Widget {
    let area = made(gtk_drawing_area_new()).sized(size, size).centred()
    gtk_drawing_area_set_draw_func(
        as_drawing_area(area),
        { _, context, width, height, _ in if let context { drawBox(context, Double(min(width, height))) } }, nil, nil)
    return area
}

private func drawBox(_ context: OpaquePointer, _ size: Double) {
    typealias Point = (x: Double, y: Double)
    func fill(_ points: [Point], _ red: Double, _ green: Double, _ blue: Double) {
        cairo_set_source_rgb(context, red, green, blue)
        for (index, point) in points.enumerated() {
            let (x, y) = (point.x * size, point.y * size)
            if index == 0 { cairo_move_to(context, x, y) } else { cairo_line_to(context, x, y) }
        }
        cairo_close_path(context)
        cairo_fill(context)
    }
    let (top, left, right, middle): (Point, Point, Point, Point) = ((0.5, 0.06), (0.06, 0.28), (0.94, 0.28), (0.5, 0.5))
    let (leftFoot, rightFoot, foot): (Point, Point, Point) = ((0.06, 0.72), (0.94, 0.72), (0.5, 0.94))
    fill([left, middle, foot, leftFoot], 0.76, 0.53, 0.31)
    fill([right, middle, foot, rightFoot], 0.64, 0.42, 0.23)
    fill([top, left, middle, right], 0.89, 0.69, 0.46)
    // The tape over the lid, and down the front.
    fill([(0.25, 0.155), (0.35, 0.11), (0.79, 0.33), (0.69, 0.38)].map { ($0.0, $0.1 + 0.025) }, 0.96, 0.84, 0.66)
    fill([(0.69, 0.405), (0.79, 0.355), (0.79, 0.53), (0.69, 0.58)], 0.84, 0.66, 0.45)
}
