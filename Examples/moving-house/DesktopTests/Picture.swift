import CGTK
import RelayCore

/// A picture's colours: whether there is anything on it.
struct Picture {
    let width: Int
    let height: Int
    /// How many different colours it has.
    let colours: Int
    /// From 0 to 1.
    let brightness: Double

    init(_ file: String) throws {
        guard let pixels = gdk_pixbuf_new_from_file(file, nil), let bytes = gdk_pixbuf_get_pixels(pixels) else {
            throw RelayError(.invalidArgument, "\(file) is no picture")
        }
        defer { g_object_unref(UnsafeMutableRawPointer(pixels)) }
        (width, height) = (Int(gdk_pixbuf_get_width(pixels)), Int(gdk_pixbuf_get_height(pixels)))
        let (stride, channels) = (Int(gdk_pixbuf_get_rowstride(pixels)), Int(gdk_pixbuf_get_n_channels(pixels)))
        var (seen, sum): (Set<UInt32>, Int) = ([], 0)
        for row in 0..<height {
            for column in 0..<width {
                // Within the picture: rows of `stride` bytes, of which each pixel has `channels`.
                let pixel = bytes + row * stride + column * channels
                seen.insert(UInt32(pixel[0]) << 16 | UInt32(pixel[1]) << 8 | UInt32(pixel[2]))
                sum += Int(pixel[0]) + Int(pixel[1]) + Int(pixel[2])
            }
        }
        (colours, brightness) = (seen.count, Double(sum) / Double(max(1, width * height * 3 * 255)))
    }
}
