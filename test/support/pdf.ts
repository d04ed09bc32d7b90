// What a reader of a PDF sees: the text of each page, and where it stands.

import { getDocumentProxy } from "unpdf";

type Drawn = { readonly str: string; readonly transform: number[]; readonly width: number };

export type PdfPage = { readonly text: string; readonly width: number; readonly drawn: Drawn[] };

export async function parsePdfPages(bytes: Uint8Array): Promise<PdfPage[]> {
  const pdf = await getDocumentProxy(new Uint8Array(bytes));
  const pages: PdfPage[] = [];
  for (let number = 1; number <= pdf.numPages; number++) {
    const page = await pdf.getPage(number);
    const { items } = await page.getTextContent();
    const drawn = items.flatMap((item): Drawn[] => ("str" in item ? [item as Drawn] : []));
    pages.push({
      text: drawn.map(({ str }) => str).join(" "),
      width: page.getViewport({ scale: 1 }).width,
      drawn,
    });
  }
  await pdf.cleanup();
  return pages;
}
