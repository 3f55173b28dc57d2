//! `frazil export`: a recording's frames in another program's format.

use crate::args::ExportArgs;
use crate::failure::Failure;
use crate::run::create_dir;
use crate::say;
use frazil_io::{Format, Recording, Tail, write_pvd};
use std::path::Path;

/// Writes one file a frame, and for VTU the index that ties them to their times.
pub fn export(args: &ExportArgs) -> Result<(), Failure> {
    let mut recording = Recording::open(&args.recording).map_err(Failure::input)?;
    if let Tail::Damaged(damage) = recording.tail() {
        let path = args.recording.display();
        say::note(format_args!("warning: {path}: only the frames before this are whole: {damage}"));
    }
    if recording.is_empty() {
        return Err(Failure::input(format!("{}: the recording holds no frame", args.recording.display())));
    }
    let folder = match (&args.out, args.recording.parent()) {
        (Some(folder), _) => folder.as_path(),
        (None, Some(parent)) => parent,
        (None, None) => Path::new(""),
    };
    if !folder.as_os_str().is_empty() {
        create_dir(folder)?;
    }
    let mut files = Vec::with_capacity(recording.len());
    for index in 0..recording.len() {
        let frame = recording.frame(index).map_err(Failure::input)?;
        let name = args.format.file_name(index);
        frazil_io::export(&frame, args.format, &folder.join(&name)).map_err(Failure::other)?;
        files.push((frame.time_s(), name));
    }
    if args.format == Format::Vtu {
        write_pvd(&folder.join("particles.pvd"), &files).map_err(Failure::other)?;
    }
    Ok(())
}
